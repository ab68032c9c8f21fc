// Mirrors: aten/src/ATen/EmptyTensor.cpp, aten/src/ATen/ScalarOps.cpp
#include <ATen/EmptyTensor.h>

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Dispatch.h>
#include <ATen/HostData.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Geometry.h>

namespace reftorch::at::detail {

static void check_sizes_nonnegative(IntArrayRef sizes) {
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
}

// Pinned memory is CPU memory, and the accelerator has the allocator for it.
static c10::Allocator* get_allocator(Device device, bool pin_memory) {
  if (!pin_memory || device.is_meta()) {
    return c10::GetAllocator(device.type());
  }
  TORCH_CHECK(device.is_cpu(), "Only dense CPU tensors can be pinned");
  const std::optional<c10::DeviceType> accelerator = getAccelerator();
  TORCH_CHECK(accelerator.has_value(), "pin_memory=True requires a CUDA or other accelerator backend; ",
              "no pinned memory allocator is available on this system.");
  return globalContext().getAcceleratorHooksInterface(accelerator).getPinnedMemoryAllocator();
}

static Tensor make_tensor(size_t nbytes, ScalarType dtype, Device device, bool pin_memory) {
  const c10::OptionalDeviceGuard guard(device); // the allocator allocates on the current device
  Storage storage(nbytes, get_allocator(device, pin_memory));
  const DispatchKeySet keys = c10::autograd_dispatch_keyset | c10::computeDispatchKey(device.type());
  return Tensor(c10::make_intrusive<TensorImpl>(std::move(storage), keys, dtype));
}

Tensor empty_generic(IntArrayRef sizes, ScalarType dtype, Device device, bool pin_memory) {
  check_sizes_nonnegative(sizes);
  int64_t nbytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(nbytes, size, &nbytes),
                "Storage size calculation overflowed with sizes=", sizes);
  }
  Tensor t = make_tensor(static_cast<size_t>(nbytes), dtype, device, pin_memory);
  t.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return t;
}

Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device, bool pin_memory) {
  check_sizes_nonnegative(sizes);
  const size_t nbytes = computeStorageNbytes(sizes, strides, c10::elementSize(dtype));
  Tensor t = make_tensor(nbytes, dtype, device, pin_memory);
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return t;
}

Tensor scalar_tensor(const Scalar& value, ScalarType dtype) {
  Tensor t = empty_generic({}, dtype);
  if (dtype == c10::kUInt64) { // an integer past int64, which type promotion with a tensor turns into another dtype
    *static_cast<uint64_t*>(host_data(t, "scalar_tensor")) = value.wrapped_to<uint64_t>();
    return t;
  }
  dispatch<AllTypesAndBool>(dtype, "scalar_tensor", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    *static_cast<scalar_t*>(host_data(t, "scalar_tensor")) = value.wrapped_to<scalar_t>();
  });
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
