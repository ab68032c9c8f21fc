// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGlooDetail.hpp
//
// How a collective sees the tensors of its caller.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>
#include <csrc/distributed/c10d/gloo/context.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/HostData.h>

namespace reftorch::c10d {

using gloo::Buffer;

// Returns a contiguous tensor on the host: the tensor itself, or a copy. A copy from a device waits for the work that
// is queued on the caller's stream.
inline at::Tensor dense_on_host(const at::Tensor& tensor) {
  return (tensor.device().is_cuda() ? at::_to_copy(tensor, std::nullopt, at::Device()) : tensor).contiguous();
}

// A tensor of the caller and dense memory on the host. A tensor that is not contiguous, or that is on a CUDA device, is
// copied, and the result is copied back.
struct Operand {
  at::Tensor tensor, dense; // without autograd history and Python object

  explicit Operand(const at::Tensor& of)
      : tensor(at::detail::alias_with_sizes_and_strides(of, of.sizes(), of.strides(), of.storage_offset())),
        dense(dense_on_host(tensor)) {}
  Buffer buffer(const char* op) const {
    return {static_cast<char*>(at::host_data(dense, op)), dense.numel(), dense.scalar_type()};
  }
  void copy_back() const {
    if (!dense.is_same(tensor)) {
      at::Tensor target = tensor;
      at::copy_(target, dense);
    }
  }
};

inline std::vector<Operand> operands(const Tensors& tensors) {
  std::vector<Operand> result;
  for (const at::Tensor& tensor : tensors) {
    result.emplace_back(tensor);
  }
  return result;
}

inline std::vector<Buffer> buffers(const std::vector<Operand>& operands, const char* op) {
  std::vector<Buffer> result;
  for (const Operand& operand : operands) {
    result.push_back(operand.buffer(op));
  }
  return result;
}

inline void copy_back(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    operand.copy_back();
  }
}

inline std::string shape_of(const at::Tensor& tensor) {
  std::string text = c10::toString(tensor.scalar_type());
  text += "[";
  for (int64_t i = 0; i < tensor.dim(); i++) {
    text += (i > 0 ? ", " : "") + std::to_string(tensor.size(i));
  }
  return text + "]";
}

// Tensors of one size and dtype are alike, whatever their shapes.
inline std::string key_of(const at::Tensor& tensor) {
  return c10::str(c10::toString(tensor.scalar_type()), " ", tensor.numel());
}

// The same for the tensors of one call. The key is short: of a fingerprint that is too long, only the end travels.
inline std::string shapes_of(const Tensors& tensors) {
  if (tensors.empty()) {
    return "no tensors";
  }
  const size_t more = tensors.size() - 1;
  return shape_of(tensors[0]) +
         (more == 0 ? "" : c10::str(" and ", more, more == 1 ? " more tensor" : " more tensors"));
}
inline std::string key_of(const Tensors& tensors) {
  std::string keys;
  for (const at::Tensor& tensor : tensors) {
    keys += key_of(tensor) + ";";
  }
  return c10::str(tensors.size(), " tensors ", std::hash<std::string>()(keys));
}

inline void check_list(const Tensors& list, const at::Tensor& tensor, int size, const char* op) {
  TORCH_CHECK_VALUE(list.size() == static_cast<size_t>(size), op, ": expected a list of ", size,
                    " tensors, one for each rank, but got ", list.size());
  for (size_t i = 0; i < list.size(); i++) {
    TORCH_CHECK_VALUE(list[i].scalar_type() == tensor.scalar_type() && list[i].numel() == tensor.numel(), op,
                      ": invalid tensor type or size at index ", i, ": expected ", shape_of(tensor), ", but got ",
                      shape_of(list[i]), ". Hint: all tensors of the call must have one size and dtype");
  }
}

} // namespace reftorch::c10d
