// Mirrors: nothing in PyTorch, where each piece of host code checks the device for itself.
//
// host_data(t, op) gives the memory of a tensor to code that runs on the host. A kernel takes data_ptr(), because the
// dispatcher has chosen the kernel by the device. Any other code may be called with a tensor of any device, and an
// address of another device's memory, or the null pointer of meta, looks like an address of the host.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Returns the address of the first element of a CPU tensor. For a tensor of another device it raises RuntimeError,
// which names `op`.
inline void* host_data(const c10::TensorImpl& t, const char* op) {
  TORCH_CHECK(t.device_.is_cpu(), op, ": expected a tensor on the CPU, whose memory the host can read, but got one on ",
              t.device_, t.device_.is_meta() ? ", which has no memory." : ". Hint: copy the tensor with .cpu() first.");
  return t.mutable_data();
}
inline void* host_data(const Tensor& t, const char* op) {
  return host_data(*t.unsafeGetTensorImpl(), op);
}

} // namespace reftorch::at
