// Mirrors: torch/csrc/api/include/torch/types.h, torch/csrc/api/include/torch/utils.h
//
// The namespaces at, c10 and torch of the sources of extensions. They have PyTorch's names, so that a source is the
// same for both libraries. Our definitions stay inside reftorch::, because both libraries may be loaded in one process.
#pragma once

#include <ATen/ExtensionFunctions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/from_blob.h>
#include <csrc/autograd/grad_mode.h>

namespace reftorch::at {

using c10::DeviceType;
using c10::kCPU;
using c10::kCUDA;
using c10::kMeta;

// torch::tensor(1.5), torch::tensor({1, 2}): a number without dimensions, or a row. Without a dtype, integers are int64
// and floats have the default dtype, as in Python.
template <typename T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  const Tensor result = at::empty({static_cast<int64_t>(values.size())}, c10::CppTypeToScalarType<T>::value, Device());
  std::copy(values.begin(), values.end(), result.data_ptr<T>());
  const bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  const ScalarType dtype = std::is_floating_point_v<T> ? at::empty({0}).scalar_type()
                           : is_integer                ? kLong
                                                       : result.scalar_type();
  return options.made(result.to(options.dtype_opt().value_or(dtype)).to(options.device()));
}
template <typename T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(value), options).squeeze(0);
}

} // namespace reftorch::at

namespace at = reftorch::at;
namespace c10 = reftorch::c10;

namespace torch {

using namespace reftorch::at; // NOLINT: an extension may also call every op as a function of the namespace torch

using reftorch::c10::ArrayRef;
using reftorch::c10::device;
using reftorch::c10::DeviceIndex;
using reftorch::c10::dtype;
using reftorch::c10::Layout;
using reftorch::c10::requires_grad;
using std::nullopt;
using std::optional;
using Dtype = reftorch::c10::ScalarType;
constexpr auto kStrided = Layout::Strided;

// The names that Python has for the dtypes.
constexpr auto kUInt8 = reftorch::c10::kByte;
constexpr auto kInt8 = reftorch::c10::kChar;
constexpr auto kInt16 = reftorch::c10::kShort;
constexpr auto kInt32 = reftorch::c10::kInt;
constexpr auto kInt64 = reftorch::c10::kLong;
constexpr auto kFloat16 = reftorch::c10::kHalf;
constexpr auto kFloat32 = reftorch::c10::kFloat;
constexpr auto kFloat64 = reftorch::c10::kDouble;

// Records ops, or does not, until the end of the scope.
class AutoGradMode final {
 public:
  explicit AutoGradMode(bool enabled) : previous_(reftorch::torch::autograd::grad_mode_is_enabled()) {
    reftorch::torch::autograd::set_grad_mode(enabled);
  }
  ~AutoGradMode() {
    reftorch::torch::autograd::set_grad_mode(previous_);
  }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};
class NoGradGuard final {
 public:
  NoGradGuard() : mode_(false) {}

 private:
  AutoGradMode mode_;
};

} // namespace torch
