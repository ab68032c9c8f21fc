// Mirrors: torch/csrc/autograd/functions/basic_ops.h
// Nodes without a formula. Left out: Identity.
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

// Warns that a gradient came to a result of an op that has no kernel for Autograd.
TORCH_API void warn_not_implemented(const std::string& op_name);

// Stands behind the results of an op of another library than aten that has no kernel for Autograd: warns when a
// gradient comes, and lets none pass.
struct TORCH_API WarnNotImplemented final : public Node {
  explicit WarnNotImplemented(std::string op_name_) : op_name(std::move(op_name_)) {}
  std::string name() const override {
    return "WarnNotImplemented";
  }
  std::string op_name; // "mylib::foo"

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// Stands behind tensors that are not to be differentiated, and says why when one is. (autograd/function.py)
struct TORCH_API Error final : public Node {
  explicit Error(std::string message_) : message(std::move(message_)) {}
  std::string name() const override {
    return "torch::autograd::Error";
  }
  std::string message;

 protected:
  variable_list apply(variable_list&& inputs) override;
};

// Lets no gradient through, so that what comes before it gets undefined ones.
struct TORCH_API UndefinedGradBackward final : public Node {
  std::string name() const override {
    return "torch::autograd::UndefinedGradBackward";
  }

 protected:
  variable_list apply(variable_list&& inputs) override {
    return variable_list(inputs.size());
  }
};

// The tensors as they are, with `node` between them and their history. Undefined ones stay undefined.
TORCH_API variable_list put_behind(const std::shared_ptr<Node>& node, const variable_list& tensors);

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
