// Mirrors: torch/csrc/autograd/functions/tensor.cpp
#include <csrc/autograd/functions/tensor.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::torch::autograd {

CopySlices::CopySlices(const Variable& base_var, const Variable& view_var, std::shared_ptr<Node> fn_)
    : base(base_var), view(view_var), fn(std::move(fn_)) {
  add_input_metadata(base_var);
  // Edge 0 leads to the former history of the base. fn's gradient for the view becomes a part of the base's gradient.
  fn->set_next_edge(0, impl::gradient_edge(base_var));
  for (const Edge& edge : fn->next_edges()) {
    add_next_edge(edge);
  }
}

variable_list CopySlices::apply(variable_list&& inputs) {
  variable_list grad_inputs(num_outputs());
  const Variable& grad = inputs[0];
  if (!grad.defined()) {
    return grad_inputs;
  }
  // Use the base's strides, so that the view can be found in the result by its geometry.
  Variable result = at::functorch::is_wrapper(grad) ? at::new_empty_strided(grad, base.sizes, base.strides)
                                                    : at::detail::empty_strided_generic(
                                                          base.sizes, base.strides, grad.scalar_type(), grad.device());
  at::copy_(result, grad);
  Variable grad_slice = at::as_strided(result, view.sizes, view.strides, view.storage_offset - base.storage_offset);

  // Give fn a copy, because fn may keep or change its input, and grad_slice is written below.
  variable_list fn_inputs{at::clone(grad_slice, at::MemoryFormat::Contiguous)};
  variable_list fn_grads = (*fn)(std::move(fn_inputs));
  for (size_t i = 0; i < fn_grads.size(); i++) {
    if (!task_should_compute_output(i)) {
      continue;
    }
    if (i != 0) {
      grad_inputs[i] = std::move(fn_grads[i]);
    } else {
      if (fn_grads[0].defined()) {
        at::copy_(grad_slice, fn_grads[0]);
      } else {
        at::zero_(grad_slice);
      }
      grad_inputs[0] = result;
    }
  }
  return grad_inputs;
}

} // namespace reftorch::torch::autograd
