// Mirrors: aten/src/ATen/templates/Functions.cpp (TensorMaker)
#include <ATen/from_blob.h>

#include <ATen/TensorUtils.h>
#include <c10/core/Geometry.h>

namespace reftorch::at {

namespace {

struct Owner {
  void* data;
  std::function<void(void*)> deleter;
};

void release(void* context) {
  const std::unique_ptr<Owner> owner(static_cast<Owner*>(context));
  owner->deleter(owner->data);
}

} // namespace

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  TORCH_CHECK(options.device().is_cpu(), "from_blob: expected memory of the CPU, but the options say ",
              options.device());
  const size_t nbytes = c10::check_geometry(sizes, strides, 0, c10::elementSize(options.dtype()));
  const bool owns = static_cast<bool>(deleter);
  c10::DataPtr data_ptr(data, owns ? new Owner{data, deleter} : data, owns ? release : nullptr, Device());
  const DispatchKeySet keys = DispatchKeySet(c10::DispatchKey::CPU) | c10::autograd_dispatch_keyset;
  Tensor result(c10::make_intrusive<TensorImpl>(Storage(nbytes, std::move(data_ptr)), keys, options.dtype()));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return options.requires_grad() ? result.set_requires_grad(true) : result;
}
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, detail::contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, {}, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, detail::contiguous_strides(sizes), {}, options);
}

} // namespace reftorch::at
