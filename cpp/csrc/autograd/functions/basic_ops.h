// Mirrors: torch/csrc/autograd/functions/basic_ops.h
//
// The nodes that have no formula. Left out: Identity.
#pragma once

#include <csrc/autograd/function.h>

namespace reftorch::torch::autograd {

// The node of an op that has neither a formula nor a mark; raises an error when a gradient arrives.
struct TORCH_API NotImplemented final : public Node {
  explicit NotImplemented(std::string op_name_) : op_name(std::move(op_name_)) {}
  std::string name() const override {
    return "torch::autograd::NotImplemented";
  }
  std::string op_name; // "aten::foo"

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// Warns that a gradient arrived at a result of an op that has no kernel for Autograd.
TORCH_API void warn_not_implemented(const std::string& op_name);

// The node of an op of a library other than aten that has no kernel for Autograd. It warns when a gradient arrives, and
// returns no gradients.
struct TORCH_API WarnNotImplemented final : public Node {
  explicit WarnNotImplemented(std::string op_name_) : op_name(std::move(op_name_)) {}
  std::string name() const override {
    return "WarnNotImplemented";
  }
  std::string op_name; // "mylib::foo"

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// The node of tensors that must not be differentiated; raises an error with `message` when a gradient arrives. Used by
// reftorch/autograd/function.py.
struct TORCH_API Error final : public Node {
  explicit Error(std::string message_) : message(std::move(message_)) {}
  std::string name() const override {
    return "torch::autograd::Error";
  }
  std::string message;

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// Stops the backward pass: the nodes behind this one receive undefined gradients.
struct TORCH_API UndefinedGradBackward final : public Node {
  std::string name() const override {
    return "torch::autograd::UndefinedGradBackward";
  }

 protected:
  variable_list apply(variable_list&& inputs) override {
    return variable_list(inputs.size());
  }
};

// Returns detached tensors of the same values whose grad_fn is `node`, and makes the former histories the edges of
// `node`. Undefined tensors stay undefined.
TORCH_API variable_list put_behind(const std::shared_ptr<Node>& node, const variable_list& tensors);

// The root of a backward pass from several tensors: one node whose edges lead to all of them.
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
