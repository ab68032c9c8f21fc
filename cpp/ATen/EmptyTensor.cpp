// Mirrors: aten/src/ATen/EmptyTensor.cpp, aten/src/ATen/ScalarOps.cpp
#include <ATen/EmptyTensor.h>

#include <ATen/Dispatch.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Geometry.h>

namespace reftorch::at::detail {

static void check_sizes_nonnegative(IntArrayRef sizes) {
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
}

static Tensor make_tensor(size_t nbytes, ScalarType dtype, Device device) {
  const c10::OptionalDeviceGuard guard(device); // an allocator allocates on the current device
  Storage storage(nbytes, c10::GetAllocator(device.type()));
  const DispatchKeySet keys = c10::autograd_dispatch_keyset | c10::computeDispatchKey(device.type());
  return Tensor(c10::make_intrusive<TensorImpl>(std::move(storage), keys, dtype));
}

Tensor empty_generic(IntArrayRef sizes, ScalarType dtype, Device device) {
  check_sizes_nonnegative(sizes);
  int64_t nbytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(nbytes, size, &nbytes),
                "Storage size calculation overflowed with sizes=", sizes);
  }
  Tensor t = make_tensor(static_cast<size_t>(nbytes), dtype, device);
  t.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return t;
}

Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  check_sizes_nonnegative(sizes);
  Tensor t = make_tensor(computeStorageNbytes(sizes, strides, c10::elementSize(dtype)), dtype, device);
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return t;
}

Tensor scalar_tensor(const Scalar& value, ScalarType dtype) {
  Tensor t = empty_generic({}, dtype);
  if (dtype == c10::kUInt64) { // of an integer past int64, which becomes of another dtype beside a tensor
    *static_cast<uint64_t*>(t.data_ptr()) = value.wrapped_to<uint64_t>();
    return t;
  }
  AT_DISPATCH_ALL_TYPES_AND_BOOL(dtype, "scalar_tensor",
                                 [&] { *t.data_ptr<scalar_t>() = value.wrapped_to<scalar_t>(); });
  return t;
}

Tensor wrapped_scalar_tensor(const Scalar& value) {
  Tensor t = scalar_tensor(value, value.type());
  t.unsafeGetTensorImpl()->is_wrapped_number_ = true;
  return t;
}

Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                    int64_t storage_offset) {
  auto impl = c10::make_intrusive<TensorImpl>(self.storage(), self.key_set(), self.scalar_type());
  impl->is_inference_ = self.is_inference();
  impl->set_sizes_and_strides(sizes, strides, storage_offset);
  return Tensor(std::move(impl));
}

size_t computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides, size_t itemsize, int64_t storage_offset) {
  return c10::check_geometry(sizes, strides, storage_offset, itemsize);
}

} // namespace reftorch::at::detail
