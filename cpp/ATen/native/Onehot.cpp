// Mirrors: aten/src/ATen/native/Onehot.cpp
//
// Classes as rows of zeros with a single one.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at::native {

// Returns zeros of shape (..., num_classes), with a one at each class. If num_classes is -1, it is the largest class
// plus 1.
static Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TORCH_CHECK(self.scalar_type() == kLong, "one_hot is only applicable to index tensor of type LongTensor.");
  DimVector shape(self.sizes());
  if (self.numel() == 0) {
    TORCH_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
    shape.push_back(num_classes);
    return detail::empty_generic(shape, kLong, self.device());
  }
  TORCH_CHECK(num_classes > 0 || !functorch::is_batched(self),
              "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument.");
  if (self.device().is_meta() && num_classes > 0) {
    shape.push_back(num_classes);
    return detail::empty_generic(shape, kLong, self.device());
  }
  const Tensor values = functorch::innermost(self); // under vmap, the values of all examples
  TORCH_CHECK(at::amin(values, {}).item().toLong() >= 0, "Class values must be non-negative.");
  const int64_t largest = at::amax(values, {}).item().toLong();
  if (num_classes == -1) {
    num_classes = largest + 1;
  }
  TORCH_CHECK(largest < num_classes, "Class values must be smaller than num_classes.");
  shape.push_back(num_classes);
  const Tensor result = at::zeros(shape, kLong, self.device());
  return at::scatter(result, -1, at::unsqueeze(self, -1), 1);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("one_hot(Tensor self, int num_classes=-1) -> Tensor", TORCH_FN(one_hot),
                  tags(Tag::dynamic_output_shape), variants::NN);
}

} // namespace reftorch::at::native
