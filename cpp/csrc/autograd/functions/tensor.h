// Mirrors: torch/csrc/autograd/functions/tensor.h
//
// CopySlices, the node of an in-place op on a view. Left out: CopyBackwards (copy_ has a formula), chained view
// functions.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// See Note [View + Inplace update]. After `v = view(b); f_(v)`, the base b as a whole has changed to
//     b_new = b_old, except at v, where b_new = f(v_old).
// So the gradient of b_old is the gradient of b_new, with the part at v replaced by f's gradient for v_old.
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

  // The geometry of a tensor, from which the same view of another tensor can be made.
  struct Geometry {
    explicit Geometry(const Variable& t) : sizes(t.sizes()), strides(t.strides()), storage_offset(t.storage_offset()) {}
    at::DimVector sizes, strides;
    int64_t storage_offset;
  };
  Geometry base;
  Geometry view;
  std::shared_ptr<Node> fn; // the in-place op's node; its edge 0 leads to the base, like edge 0 of this node

 protected:
  variable_list apply(variable_list&& inputs) override;
};

} // namespace reftorch::torch::autograd
