// Mirrors: aten/src/ATen/native/TensorCompare.cpp (isin), aten/src/ATen/native/Onehot.cpp
//
// Membership: isin finds which elements are in a set, and one_hot turns classes into rows of zeros with a single one.
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>

namespace reftorch::at::native {

// The result for the meta device, where the set has no values: one bool for each element.
static void prepare_bool_result(const Tensor& elements, Tensor& out) {
  if (out.defined()) {
    resize_output(out, elements.sizes());
  } else {
    out = detail::empty_generic(elements.sizes(), kBool, Device(c10::kMeta));
  }
}

// Returns a number of the program on the device of the other operand; every other tensor as it is.
static Tensor beside(const Tensor& t, const Tensor& other) {
  if (!t.unsafeGetTensorImpl()->is_wrapped_number_ || t.device() == other.device()) {
    return t;
  }
  Tensor moved = detail::empty_generic(t.sizes(), t.scalar_type(), other.device());
  return at::copy_(moved, t);
}

// The set is sorted, and each element is searched in it: O((n + m) log m).
static void isin_out(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert,
                     Tensor& out) {
  const ScalarType dtype = result_type(elements, test_elements);
  TORCH_CHECK(elements.scalar_type() != kBool && test_elements.scalar_type() != kBool,
              "Unsupported input type encountered for isin(): Bool");
  TORCH_CHECK(!out.defined() || out.scalar_type() == kBool, "Expected out tensor to have dtype bool, but got ",
              c10::dtypeName(out.defined() ? out.scalar_type() : kBool), " instead");
  if (elements.device().is_meta() || test_elements.device().is_meta()) {
    prepare_bool_result(elements, out);
    return;
  }
  const Tensor members = beside(test_elements, elements), candidates = beside(elements, test_elements);
  Tensor set = at::reshape(members.scalar_type() == dtype ? members : cast_to_dtype(members, dtype), {-1});
  set = at::index(set, {at::eq(set, set)}); // drops NaN, which equals nothing
  Tensor found;
  if (set.numel() == 0) {
    found = detail::empty_generic(elements.sizes(), kBool, candidates.device());
    zero_impl(found);
  } else {
    const Tensor values =
        at::contiguous(candidates.scalar_type() == dtype ? candidates : cast_to_dtype(candidates, dtype));
    const Tensor sorted = std::get<0>(at::sort(set));
    const Tensor last = detail::wrapped_scalar_tensor(sorted.numel() - 1);
    found = at::eq(at::index(sorted, {at::minimum(at::searchsorted(sorted, values), last)}), values);
  }
  if (invert) {
    found = at::logical_not(found);
  }
  if (out.defined()) {
    resize_output(out, found.sizes());
    at::copy_(out, found);
  } else {
    out = found;
  }
}
static void isin_tensor_scalar_out(const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert,
                                   Tensor& out) {
  isin_out(elements, detail::wrapped_scalar_tensor(test_element), assume_unique, invert, out);
}
static Tensor& isin_scalar_tensor_out(const Scalar& element, const Tensor& test_elements, bool assume_unique,
                                      bool invert, Tensor& out) {
  isin_out(detail::wrapped_scalar_tensor(element), test_elements, assume_unique, invert, out);
  return out;
}
static Tensor isin_scalar_tensor(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  Tensor out;
  return isin_scalar_tensor_out(element, test_elements, assume_unique, invert, out);
}

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
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_structured(
      "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      TORCH_FN(isin_out), kernels(fill_stub, zero_stub), derive::OUT, FUNCTION);
  m.def_structured(
      "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      TORCH_FN(isin_tensor_scalar_out), kernels(fill_stub, zero_stub), derive::OUT, FUNCTION);
  m.def(
      "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> "
      "Tensor",
      TORCH_FN(isin_scalar_tensor), kernels(fill_stub, zero_stub), FUNCTION);
  m.def(
      "isin.Scalar_Tensor_out(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
      "invert=False, Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(isin_scalar_tensor_out), kernels(fill_stub, zero_stub), FUNCTION);
  m.def_composite("one_hot(Tensor self, int num_classes=-1) -> Tensor", TORCH_FN(one_hot),
                  tags(Tag::dynamic_output_shape), variants::NN);
}

} // namespace reftorch::at::native
