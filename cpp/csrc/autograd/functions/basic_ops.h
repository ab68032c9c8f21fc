// Mirrors: torch/csrc/autograd/functions/basic_ops.h
// Nodes without a formula. Left out: DelayedError, UndefinedGrad, Identity.
#pragma once

#include <csrc/autograd/function.h>

namespace reftorch::torch::autograd {

// Stands where no gradient can pass, and says so when one tries.
struct TORCH_API NotImplemented final : public Node {
  explicit NotImplemented(std::string op_name_) : op_name(std::move(op_name_)) {}
  std::string name() const override {
    return "torch::autograd::NotImplemented";
  }
  std::string op_name; // "aten::foo"

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// The start of a backward pass from several tensors: one node whose edges lead to all of them.
struct TORCH_API GraphRoot final : public Node {
  GraphRoot(const edge_list& roots, variable_list gradients);
  std::string name() const override {
    return "GraphRoot";
  }

 protected:
  variable_list apply(variable_list&&) override {
    return outputs_;
  }

 private:
  variable_list outputs_;
};

} // namespace reftorch::torch::autograd
