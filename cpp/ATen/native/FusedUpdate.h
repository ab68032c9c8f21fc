// Mirrors: aten/src/ATen/native/FusedSGD.h, aten/src/ATen/native/FusedAdam.h, aten/src/ATen/native/FusedAdagrad.h
//
// The stubs of the fused updates of optimizers, and the lists of tensors that a stub takes. A fused update is one call
// for all parameters. One kernel does the work for which a loop over the parameters needs a dozen ops for each
// parameter.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

namespace reftorch::at::native {

// The options that the rules share. `lr` is undefined, or a tensor that holds the learning rate, which then counts
// instead of `lr_value`. grad_scale and found_inf come from a GradScaler and may be undefined: the gradients are
// divided by grad_scale, in place, and nothing happens if found_inf holds 1.
struct FusedOptions {
  Tensor lr, grad_scale, found_inf;
  double lr_value, weight_decay;
  bool maximize;
};

struct FusedSGDOptions : FusedOptions {
  double momentum, dampening;
  bool nesterov, is_first_step;
};

struct FusedAdamOptions : FusedOptions {
  double beta1, beta2, eps;
  bool amsgrad, decoupled_weight_decay; // AdamW decouples the weight decay from the gradient
};

struct FusedAdagradOptions : FusedOptions {
  double lr_decay, eps;
};

// lists: params, grads, momentum buffers (empty without momentum)
using fused_sgd_fn = void (*)(const std::vector<TensorList>& lists, const FusedSGDOptions& options);
DECLARE_DISPATCH(fused_sgd_fn, fused_sgd_stub)
// lists: params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs (empty without amsgrad). The steps, one tensor for each
// parameter, count the present step.
using fused_adam_fn = void (*)(const std::vector<TensorList>& lists, TensorList steps, const FusedAdamOptions& options);
DECLARE_DISPATCH(fused_adam_fn, fused_adam_stub)
// lists: params, grads, state_sums
using fused_adagrad_fn = void (*)(const std::vector<TensorList>& lists, TensorList steps,
                                  const FusedAdagradOptions& options);
DECLARE_DISPATCH(fused_adagrad_fn, fused_adagrad_stub)

// The lists of one update. The kernels walk through the memory of a parameter, its gradient and its state side by side,
// so these tensors need one memory layout without gaps. Where they have several layouts, the kernel gets contiguous
// copies of them, and write_back() copies the results into the caller's tensors. (PyTorch's kernels mix up the elements
// there.)
class FusedLists final {
 public:
  FusedLists(const char* name, std::initializer_list<TensorList> lists, bool has_last) : lists_(lists) {
    const TensorList params = lists_[0];
    TORCH_CHECK_NOT_IMPLEMENTED(!params.empty(),
                                "There were no tensor arguments to this function (e.g., you passed an empty list of "
                                "Tensors), but no fallback function is registered for schema aten::",
                                name, ".");
    for (size_t k = 1; k < lists_.size(); k++) {
      const size_t expected = k + 1 < lists_.size() || has_last ? params.size() : 0;
      TORCH_CHECK(lists_[k].size() == expected, name, ": expected ", expected, " tensors in list ", k,
                  ", because there are ", params.size(), " parameters, but got ", lists_[k].size());
    }
    const bool floating = isFloatingType(params[0].scalar_type());
    TORCH_CHECK_NOT_IMPLEMENTED(floating, '"', name, "kernel\" not implemented for '",
                                toString(params[0].scalar_type()), "'");
    for (size_t i = 0; i < params.size(); i++) {
      check_alike(name, i);
    }
    for (TensorList list : lists_) {
      dense_.push_back(list.vec());
    }
    for (size_t i = 0; i < params.size(); i++) {
      if (!is_one_layout(i)) {
        for (std::vector<Tensor>& list : dense_) {
          if (!list.empty()) {
            list[i] = at::contiguous(list[i]);
          }
        }
      }
    }
  }

  c10::DeviceType device_type() const {
    return lists_[0][0].device().type();
  }
  std::vector<TensorList> dense() const {
    return {dense_.begin(), dense_.end()};
  }
  void write_back() {
    for (size_t k = 0; k < lists_.size(); k++) {
      for (size_t i = 0; i < lists_[k].size(); i++) {
        if (!dense_[k][i].is_same(lists_[k][i])) {
          Tensor original = lists_[k][i];
          at::copy_(original, dense_[k][i]);
        }
      }
    }
  }

 private:
  void check_alike(const char* name, size_t i) const {
    const Tensor& param = lists_[0][i];
    for (TensorList list : lists_) {
      if (list.empty()) {
        continue;
      }
      TORCH_CHECK(list[i].scalar_type() == lists_[0][0].scalar_type(), name, ": expected scalar type ",
                  toString(lists_[0][0].scalar_type()), " but found ", toString(list[i].scalar_type()));
      TORCH_CHECK(list[i].sizes() == param.sizes(), name, ": parameter ", i, " has shape ", param.sizes(),
                  ", but its gradient or state has shape ", list[i].sizes());
      TORCH_CHECK(list[i].device() == lists_[0][0].device(), name, ": expected all tensors on ", lists_[0][0].device(),
                  ", but found one on ", list[i].device());
    }
  }
  bool is_one_layout(size_t i) const {
    for (TensorList list : lists_) {
      if (!list.empty() && (!list[i].unsafeGetTensorImpl()->is_non_overlapping_and_dense() ||
                            list[i].strides() != lists_[0][i].strides())) {
        return false;
      }
    }
    return true;
  }

  std::vector<TensorList> lists_;
  std::vector<std::vector<Tensor>> dense_;
};

inline Tensor tensor_or_undefined(const std::optional<Tensor>& t) {
  return t.has_value() ? *t : Tensor();
}

// The options that all optimizers have. The learning rate is a number, or a tensor of one element.
template <typename LearningRate>
FusedOptions fused_options(const LearningRate& lr, double weight_decay, bool maximize,
                           const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  FusedOptions options{Tensor(), tensor_or_undefined(grad_scale), tensor_or_undefined(found_inf), 0, weight_decay,
                       maximize};
  if constexpr (std::is_same_v<LearningRate, double>) {
    options.lr_value = lr;
  } else {
    options.lr = lr;
  }
  return options;
}

// A number that the kernel reads has to be one element, on the device of the parameters.
inline void check_number(const char* name, const char* what, const Tensor& number, TensorList params) {
  TORCH_CHECK(!number.defined() || number.numel() == 1, name, ": ", what, " must have one element, but got ",
              number.numel());
  TORCH_CHECK(!number.defined() || number.device() == params[0].device(), name, ": expected ", what, " on ",
              params[0].device(), ", but found it on ", number.device());
}

inline void check_steps(const char* name, TensorList steps, TensorList params) {
  TORCH_CHECK(steps.size() == params.size(), name, ": expected ", params.size(), " state_steps, but got ",
              steps.size());
  for (const Tensor& step : steps) {
    check_number(name, "a step", step, params);
  }
}

} // namespace reftorch::at::native
