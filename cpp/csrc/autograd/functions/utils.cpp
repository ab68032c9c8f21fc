// Mirrors: torch/csrc/autograd/VariableTypeUtils.h (check_inplace), torch/csrc/autograd/variable.cpp (handle_view_on_rebase)
#include <csrc/autograd/functions/utils.h>

namespace reftorch::torch::autograd {

std::string forward_name(const Node& node) {
  const std::string name = node.name();
  const size_t end = name.find_last_not_of("0123456789") + 1;
  const std::string suffix = "Backward";
  if (end <= suffix.size() || name.compare(end - suffix.size(), suffix.size(), suffix) != 0) {
    return name;
  }
  const std::string number = name.substr(end); // the overload's number: sum.dim_IntList is Sum1
  return name.substr(0, end - suffix.size()) + (number == "0" ? "" : number);
}

void check_view_inplace(const Variable& self, bool indirect) {
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(self);
  if (view == nullptr || view->creation_meta_ == CreationMeta::DEFAULT) {
    return;
  }
  const std::string modified = indirect ? "its base or another view of its base has been" : "is being";
  std::string what, outside = "A view was created in";
  if (view->grad_fn_ != nullptr) {
    const std::string output = c10::str("Output ", view->output_nr_, " of ", forward_name(*view->grad_fn_));
    what = c10::str(output, " is a view and ", modified, " modified inplace. This view");
    outside = output + " is a view of a view which was created in";
  } else {
    what = c10::str(outside, " no_grad mode and ", modified, " modified inplace with grad mode enabled. This view");
  }
  switch (view->creation_meta_) {
    case CreationMeta::MULTI_OUTPUT_NODE:
      TORCH_CHECK(
          false, what,
          " is the output of a function that returns multiple views. Such functions do not allow the output views "
          "to be modified inplace. You should replace the inplace operation by an out-of-place one.");
    case CreationMeta::IN_CUSTOM_FUNCTION:
      TORCH_CHECK(
          false, what,
          " was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
          "handle view+inplace would override the custom backward associated with the custom Function, leading to "
          "incorrect "
          "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.");
    case CreationMeta::INFERENCE_MODE:
      TORCH_CHECK(
          false, outside, " inference mode and ", modified,
          " modified inplace in normal mode. Given that this use case is "
          "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
          "inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both "
          "outside (if you want the inplace to be tracked).");
    default:
      TORCH_CHECK(
          false, outside, " no_grad mode and ", modified,
          " modified inplace with grad mode enabled. Given that this use "
          "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and "
          "the inplace "
          "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you "
          "want the "
          "inplace to be tracked).");
  }
}

void check_inplace(const Variable& self) {
  check_view_inplace(self);
  if (!self.requires_grad()) {
    return;
  }
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(self);
  TORCH_CHECK(view == nullptr || !impl::is_leaf(view->base_),
              "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  TORCH_CHECK(!impl::is_leaf(self), "a leaf Variable that requires grad is being used in an in-place operation.");
}

} // namespace reftorch::torch::autograd
