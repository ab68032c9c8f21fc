// Mirrors: torch/csrc/autograd/functions/tensor.h
// CopySlices, the node of an in-place op on a view. Left out: CopyBackwards (copy_ has a formula), chained view
// functions.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// See Note [View + Inplace update]. With base b and `v = view(b); f_(v)`, b as a whole changes by
//     b_new = b_old except at v, where it is f(v_old)
// so its gradient is that of b_new with f's gradient written into the place of v.
struct TORCH_API CopySlices final : public Node {
  CopySlices(const Variable& base, const Variable& view, std::shared_ptr<Node> fn);

  std::string name() const override {
    return "torch::autograd::CopySlices";
  }
  void release_variables() override {
    fn->release_variables();
  }
  void visit_owned(OwnedVisitor& visitor) const override {
    Node::visit_owned(visitor);
    visitor.node(fn);
  }

  // What is kept of a tensor to make a view like it of another one.
  struct Geometry {
    explicit Geometry(const Variable& t) : sizes(t.sizes()), strides(t.strides()), storage_offset(t.storage_offset()) {}
    at::DimVector sizes, strides;
    int64_t storage_offset;
  };
  Geometry base;
  Geometry view;
  std::shared_ptr<Node> fn; // the in-place op's own node; its edge 0 leads to the base, as ours does

 protected:
  variable_list apply(variable_list&& inputs) override;
};

} // namespace reftorch::torch::autograd
