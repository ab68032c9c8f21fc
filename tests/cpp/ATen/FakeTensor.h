// Mirrors: nothing in PyTorch: its tests of devices need the devices.
//
// Tensors that say they lie on a CUDA device; their memory is the CPU's. Use with c10/core/impl/FakeGuardImpl.h.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Two floats of that value.
inline Tensor on_device(c10::DeviceIndex index, float value) {
  auto* memory = new float[2]{value, value};
  c10::DataPtr data(
      memory, memory, [](void* context) { delete[] static_cast<float*>(context); }, c10::Device(c10::kCUDA, index));
  const c10::DispatchKeySet keys = c10::autograd_dispatch_keyset | c10::DispatchKey::CUDA;
  Tensor t(c10::make_intrusive<c10::TensorImpl>(c10::Storage(2 * sizeof(float), std::move(data)), keys, kFloat));
  t.unsafeGetTensorImpl()->set_sizes_contiguous({2});
  return t;
}

} // namespace reftorch::at
