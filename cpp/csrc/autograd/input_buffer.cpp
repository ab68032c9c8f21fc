// Mirrors: torch/csrc/autograd/input_buffer.cpp
#include <csrc/autograd/input_buffer.h>

#include <ATen/Functions.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <c10/core/GradMode.h>

namespace reftorch::torch::autograd {

// In place only where nobody can see it: no graph is being recorded, and neither the tensor nor its storage has another
// owner.
static bool can_accumulate_inplace(const Variable& sum, const Variable& var) {
  return !c10::GradMode::is_enabled() && sum.use_count() == 1 && sum.storage().use_count() == 1 &&
         !at::isTensorSubclassLike(sum) && !at::isTensorSubclassLike(var) &&
         sum.unsafeGetTensorImpl()->is_non_overlapping_and_dense() && sum.scalar_type() == var.scalar_type() &&
         sum.sizes() == var.sizes();
}

void InputBuffer::add(size_t pos, Variable var) {
  if (!var.defined()) {
    return;
  }
  Variable& sum = buffer[pos];
  if (!sum.defined()) {
    sum = std::move(var);
  } else if (can_accumulate_inplace(sum, var)) {
    at::add_(sum, var);
  } else if (can_accumulate_inplace(var, sum)) {
    sum = at::add_(var, sum);
  } else {
    sum = at::add(sum, var);
  }
}

} // namespace reftorch::torch::autograd
