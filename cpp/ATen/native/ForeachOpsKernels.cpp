// Mirrors: aten/src/ATen/native/ForeachOpsKernels.cpp, aten/src/ATen/native/ForeachUtils.h
//
// Functions of lists of tensors: one call from Python does the work of a loop over the tensors. Optimizers use these
// functions, because the tensors of a network are many and often small, so the calls take longer than the arithmetic.
// Every function here is a loop over the op for one tensor, as PyTorch's functions are on the CPU; autograd records
// those ops. Left out: the functions that no optimizer calls, and out=. The file is more than 500 lines long because
// each op has up to four overloads, and each overload has a form in place.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <c10/core/GradMode.h>

#include <tuple>
#include <vector>

namespace reftorch::at::native {

using TensorVector = std::vector<Tensor>;

// One number for each tensor of a list.
using ScalarList = ArrayRef<Scalar>;

// The result of a function that changes its first list in place. Its schema says `-> ()`.
using NoResult = std::tuple<>;

// --- loops -----------------------------------------------------------------------------------------------------------

static void check_same_length(TensorList first, TensorList other) {
  TORCH_CHECK(first.size() == other.size(), "Tensor lists must have the same number of tensors, got ", first.size(),
              " and ", other.size());
}
static void check_same_length(TensorList first, ScalarList scalars) {
  TORCH_CHECK(first.size() == scalars.size(), "Tensor list must have same number of elements as scalar list.");
}

template <typename... Lists>
static void check_foreach_api_restrictions(TensorList first, const Lists&... others) {
  TORCH_CHECK(!first.empty(), "Tensor list must have at least one tensor.");
  (check_same_length(first, others), ...);
}

// Returns the list of `function(self[i], others[i]...)`. The others are lists of tensors or of numbers.
template <typename Function, typename... Lists>
static TensorVector foreach_map(const Function& function, TensorList self, const Lists&... others) {
  check_foreach_api_restrictions(self, others...);
  TensorVector results;
  results.reserve(self.size());
  for (size_t i = 0; i < self.size(); i++) {
    results.push_back(function(self[i], others[i]...));
  }
  return results;
}

// Calls `function(self[i], others[i]...)`, which changes its first argument in place.
template <typename Function, typename... Lists>
static NoResult foreach_apply(const Function& function, TensorList self, const Lists&... others) {
  check_foreach_api_restrictions(self, others...);
  for (size_t i = 0; i < self.size(); i++) {
    Tensor t = self[i];
    function(t, others[i]...);
  }
  return {};
}

// The one number that `other` holds. As an operand it counts as a tensor in type promotion.
static const Tensor& checked_scalar_tensor(const Tensor& other) {
  TORCH_CHECK(other.dim() == 0 && other.numel() == 1, "scalar tensor expected to be 0 dim but it has ", other.dim(),
              " dimensions and ", other.numel(), " elements.");
  return other;
}

// The numbers in a tensor of one dimension, one for each of `length` tensors.
static std::vector<Scalar> convert_tensor_to_scalar_list(const Tensor& scalars, size_t length) {
  TORCH_CHECK(scalars.device().is_cpu(), "Expected scalars to be on CPU, got ", scalars.device(), " instead.");
  TORCH_CHECK(scalars.is_contiguous(), "Expected scalars to be contiguous.");
  TORCH_CHECK(scalars.dim() == 1, "Expected packed scalar Tensor to be of dimension 1. Got ", scalars.dim(),
              " instead.");
  TORCH_CHECK(scalars.numel() == static_cast<int64_t>(length), "Expected length of scalars to match input of length ",
              length, " but got ", scalars.numel(), " instead.");
  TORCH_CHECK(!(c10::GradMode::is_enabled() && scalars.requires_grad()),
              "No gradient is computed for the argument 'scalars', but it requires grad. Pass scalars.detach().");
  std::vector<Scalar> numbers;
  for (size_t i = 0; i < length; i++) {
    numbers.push_back(at::select(scalars, 0, static_cast<int64_t>(i)).item());
  }
  return numbers;
}

// --- one list --------------------------------------------------------------------------------------------------------

static TensorVector foreach_abs(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::abs(t); }, self);
}
static NoResult foreach_abs_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::abs_(t); }, self);
}
static TensorVector foreach_exp(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::exp(t); }, self);
}
static NoResult foreach_exp_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::exp_(t); }, self);
}
static TensorVector foreach_neg(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::neg(t); }, self);
}
static NoResult foreach_neg_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::neg_(t); }, self);
}
static TensorVector foreach_reciprocal(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::reciprocal(t); }, self);
}
static NoResult foreach_reciprocal_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::reciprocal_(t); }, self);
}
static TensorVector foreach_rsqrt(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::rsqrt(t); }, self);
}
static NoResult foreach_rsqrt_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::rsqrt_(t); }, self);
}
static TensorVector foreach_sign(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::sign(t); }, self);
}
static NoResult foreach_sign_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::sign_(t); }, self);
}
static TensorVector foreach_sqrt(TensorList self) {
  return foreach_map([](const Tensor& t) { return at::sqrt(t); }, self);
}
static NoResult foreach_sqrt_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::sqrt_(t); }, self);
}
static NoResult foreach_zero_(TensorList self) {
  return foreach_apply([](Tensor& t) { at::zero_(t); }, self);
}
static TensorVector foreach_clone(TensorList self, std::optional<MemoryFormat> memory_format) {
  return foreach_map([&](const Tensor& t) { return at::clone(t, memory_format); }, self);
}
static TensorVector foreach_norm(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  const auto norm = [&](const Tensor& t) { return at::linalg_vector_norm(t, ord, std::nullopt, false, dtype); };
  return foreach_map(norm, self);
}
static NoResult foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  return foreach_apply([&](Tensor& t, const Tensor& source) { at::copy_(t, source, non_blocking); }, self, src);
}

// --- a list and a number, a tensor that holds one number, a second list, or a list of numbers ------------------------

// A number as a tensor that counts as a Python number in type promotion. It is made once for the whole list.
static Tensor foreach_number(const Scalar& scalar) {
  return detail::wrapped_scalar_tensor(scalar);
}

static TensorVector foreach_add_list(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_map([&](const Tensor& a, const Tensor& b) { return at::add(a, b, alpha); }, self, other);
}
static NoResult foreach_add_list_(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_apply([&](Tensor& a, const Tensor& b) { at::add_(a, b, alpha); }, self, other);
}
static TensorVector foreach_add_tensor(TensorList self, const Tensor& other, const Scalar& alpha) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_map([&](const Tensor& a) { return at::add(a, b, alpha); }, self);
}
static NoResult foreach_add_tensor_(TensorList self, const Tensor& other, const Scalar& alpha) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_apply([&](Tensor& a) { at::add_(a, b, alpha); }, self);
}
static TensorVector foreach_add_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([b = foreach_number(scalar)](const Tensor& a) { return at::add(a, b); }, self);
}
static NoResult foreach_add_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([b = foreach_number(scalar)](Tensor& a) { at::add_(a, b); }, self);
}
static TensorVector foreach_add_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::add(a, b); }, self, scalars);
}
static NoResult foreach_add_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::add_(a, b); }, self, scalars);
}

static TensorVector foreach_sub_list(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_map([&](const Tensor& a, const Tensor& b) { return at::sub(a, b, alpha); }, self, other);
}
static NoResult foreach_sub_list_(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_apply([&](Tensor& a, const Tensor& b) { at::sub_(a, b, alpha); }, self, other);
}
static TensorVector foreach_sub_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([b = foreach_number(scalar)](const Tensor& a) { return at::sub(a, b); }, self);
}
static NoResult foreach_sub_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([b = foreach_number(scalar)](Tensor& a) { at::sub_(a, b); }, self);
}
static TensorVector foreach_sub_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::sub(a, b); }, self, scalars);
}
static NoResult foreach_sub_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::sub_(a, b); }, self, scalars);
}

static TensorVector foreach_mul_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::mul(a, b); }, self, other);
}
static NoResult foreach_mul_list_(TensorList self, TensorList other) {
  return foreach_apply([](Tensor& a, const Tensor& b) { at::mul_(a, b); }, self, other);
}
static TensorVector foreach_mul_tensor(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_map([&](const Tensor& a) { return at::mul(a, b); }, self);
}
static NoResult foreach_mul_tensor_(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_apply([&](Tensor& a) { at::mul_(a, b); }, self);
}
static TensorVector foreach_mul_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([b = foreach_number(scalar)](const Tensor& a) { return at::mul(a, b); }, self);
}
static NoResult foreach_mul_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([b = foreach_number(scalar)](Tensor& a) { at::mul_(a, b); }, self);
}
static TensorVector foreach_mul_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::mul(a, b); }, self, scalars);
}
static NoResult foreach_mul_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::mul_(a, b); }, self, scalars);
}

static TensorVector foreach_div_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::div(a, b); }, self, other);
}
static NoResult foreach_div_list_(TensorList self, TensorList other) {
  return foreach_apply([](Tensor& a, const Tensor& b) { at::div_(a, b); }, self, other);
}
static TensorVector foreach_div_tensor(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_map([&](const Tensor& a) { return at::div(a, b); }, self);
}
static NoResult foreach_div_tensor_(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_apply([&](Tensor& a) { at::div_(a, b); }, self);
}
static TensorVector foreach_div_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([b = foreach_number(scalar)](const Tensor& a) { return at::div(a, b); }, self);
}
static NoResult foreach_div_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([b = foreach_number(scalar)](Tensor& a) { at::div_(a, b); }, self);
}
static TensorVector foreach_div_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::div(a, b); }, self, scalars);
}
static NoResult foreach_div_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::div_(a, b); }, self, scalars);
}

// maximum with a number is clamp_min, and minimum is clamp_max, as in PyTorch. Of two lists, equal elements share the
// gradient, which clamp_min gives to the first list alone. So the forms in place call clamp_min_ and clamp_max_, which
// need no memory for a result, only where no gradient is recorded. Where a gradient is recorded, backward needs the
// elements from before the call, so they are cloned. Such a graph has the nodes of maximum and copy_, where the graph
// of PyTorch has MaximumBackward0 alone.
static TensorVector foreach_maximum_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::maximum(a, b); }, self, other);
}
static TensorVector foreach_minimum_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::minimum(a, b); }, self, other);
}
static bool records_gradient(const Tensor& a, const Tensor& b) {
  return (c10::GradMode::is_enabled() && (a.requires_grad() || b.requires_grad())) || c10::ForwardAD::is_active();
}
static NoResult foreach_maximum_list_(TensorList self, TensorList other) {
  const auto op = [](Tensor& a, const Tensor& b) {
    records_gradient(a, b) ? at::copy_(a, at::maximum(at::clone(a), b)) : at::clamp_min_(a, b);
  };
  return foreach_apply(op, self, other);
}
static NoResult foreach_minimum_list_(TensorList self, TensorList other) {
  const auto op = [](Tensor& a, const Tensor& b) {
    records_gradient(a, b) ? at::copy_(a, at::minimum(at::clone(a), b)) : at::clamp_max_(a, b);
  };
  return foreach_apply(op, self, other);
}
static TensorVector foreach_clamp_min_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::clamp_min(a, b); }, self, other);
}
static NoResult foreach_clamp_min_list_(TensorList self, TensorList other) {
  return foreach_apply([](Tensor& a, const Tensor& b) { at::clamp_min_(a, b); }, self, other);
}
static TensorVector foreach_clamp_min_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([&](const Tensor& a) { return at::clamp_min(a, scalar); }, self);
}
static NoResult foreach_clamp_min_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([&](Tensor& a) { at::clamp_min_(a, scalar); }, self);
}
static TensorVector foreach_clamp_min_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::clamp_min(a, b); }, self, scalars);
}
static NoResult foreach_clamp_min_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::clamp_min_(a, b); }, self, scalars);
}
static TensorVector foreach_clamp_max_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::clamp_max(a, b); }, self, other);
}
static NoResult foreach_clamp_max_list_(TensorList self, TensorList other) {
  return foreach_apply([](Tensor& a, const Tensor& b) { at::clamp_max_(a, b); }, self, other);
}
static TensorVector foreach_clamp_max_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([&](const Tensor& a) { return at::clamp_max(a, scalar); }, self);
}
static NoResult foreach_clamp_max_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([&](Tensor& a) { at::clamp_max_(a, scalar); }, self);
}
static TensorVector foreach_clamp_max_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::clamp_max(a, b); }, self, scalars);
}
static NoResult foreach_clamp_max_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::clamp_max_(a, b); }, self, scalars);
}

static TensorVector foreach_pow_list(TensorList self, TensorList exponent) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return at::pow(a, b); }, self, exponent);
}
static NoResult foreach_pow_list_(TensorList self, TensorList exponent) {
  return foreach_apply([](Tensor& a, const Tensor& b) { at::pow_(a, b); }, self, exponent);
}
static TensorVector foreach_pow_scalar(TensorList self, const Scalar& exponent) {
  return foreach_map([&](const Tensor& a) { return at::pow(a, exponent); }, self);
}
static NoResult foreach_pow_scalar_(TensorList self, const Scalar& exponent) {
  return foreach_apply([&](Tensor& a) { at::pow_(a, exponent); }, self);
}
static TensorVector foreach_pow_scalar_list(TensorList self, ScalarList exponent) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return at::pow(a, b); }, self, exponent);
}
static NoResult foreach_pow_scalar_list_(TensorList self, ScalarList exponent) {
  return foreach_apply([](Tensor& a, const Scalar& b) { at::pow_(a, b); }, self, exponent);
}
static TensorVector foreach_scalar_pow(const Scalar& self, TensorList exponent) {
  return foreach_map([&](const Tensor& b) { return at::pow(self, b); }, exponent);
}

// --- three lists -----------------------------------------------------------------------------------------------------

static TensorVector foreach_addcmul(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto op = [&](const Tensor& t, const Tensor& a, const Tensor& b) { return at::addcmul(t, a, b, value); };
  return foreach_map(op, self, tensor1, tensor2);
}
static NoResult foreach_addcmul_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto op = [&](Tensor& t, const Tensor& a, const Tensor& b) { at::addcmul_(t, a, b, value); };
  return foreach_apply(op, self, tensor1, tensor2);
}
static TensorVector foreach_addcmul_scalar_list(TensorList self, TensorList tensor1, TensorList tensor2,
                                                ScalarList scalars) {
  const auto op = [](const Tensor& t, const Tensor& a, const Tensor& b, const Scalar& value) {
    return at::addcmul(t, a, b, value);
  };
  return foreach_map(op, self, tensor1, tensor2, scalars);
}
static NoResult foreach_addcmul_scalar_list_(TensorList self, TensorList tensor1, TensorList tensor2,
                                             ScalarList scalars) {
  const auto op = [](Tensor& t, const Tensor& a, const Tensor& b, const Scalar& value) {
    at::addcmul_(t, a, b, value);
  };
  return foreach_apply(op, self, tensor1, tensor2, scalars);
}
static TensorVector foreach_addcmul_tensor(TensorList self, TensorList tensor1, TensorList tensor2,
                                           const Tensor& scalars) {
  return foreach_addcmul_scalar_list(self, tensor1, tensor2, convert_tensor_to_scalar_list(scalars, self.size()));
}
static NoResult foreach_addcmul_tensor_(TensorList self, TensorList tensor1, TensorList tensor2,
                                        const Tensor& scalars) {
  return foreach_addcmul_scalar_list_(self, tensor1, tensor2, convert_tensor_to_scalar_list(scalars, self.size()));
}
static TensorVector foreach_addcdiv(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto op = [&](const Tensor& t, const Tensor& a, const Tensor& b) { return at::addcdiv(t, a, b, value); };
  return foreach_map(op, self, tensor1, tensor2);
}
static NoResult foreach_addcdiv_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto op = [&](Tensor& t, const Tensor& a, const Tensor& b) { at::addcdiv_(t, a, b, value); };
  return foreach_apply(op, self, tensor1, tensor2);
}
static TensorVector foreach_addcdiv_scalar_list(TensorList self, TensorList tensor1, TensorList tensor2,
                                                ScalarList scalars) {
  const auto op = [](const Tensor& t, const Tensor& a, const Tensor& b, const Scalar& value) {
    return at::addcdiv(t, a, b, value);
  };
  return foreach_map(op, self, tensor1, tensor2, scalars);
}
static NoResult foreach_addcdiv_scalar_list_(TensorList self, TensorList tensor1, TensorList tensor2,
                                             ScalarList scalars) {
  const auto op = [](Tensor& t, const Tensor& a, const Tensor& b, const Scalar& value) {
    at::addcdiv_(t, a, b, value);
  };
  return foreach_apply(op, self, tensor1, tensor2, scalars);
}
static TensorVector foreach_addcdiv_tensor(TensorList self, TensorList tensor1, TensorList tensor2,
                                           const Tensor& scalars) {
  return foreach_addcdiv_scalar_list(self, tensor1, tensor2, convert_tensor_to_scalar_list(scalars, self.size()));
}
static NoResult foreach_addcdiv_tensor_(TensorList self, TensorList tensor1, TensorList tensor2,
                                        const Tensor& scalars) {
  return foreach_addcdiv_scalar_list_(self, tensor1, tensor2, convert_tensor_to_scalar_list(scalars, self.size()));
}
static TensorVector foreach_lerp_list(TensorList self, TensorList tensors1, TensorList weights) {
  const auto op = [](const Tensor& t, const Tensor& end, const Tensor& weight) { return at::lerp(t, end, weight); };
  return foreach_map(op, self, tensors1, weights);
}
static NoResult foreach_lerp_list_(TensorList self, TensorList tensors1, TensorList weights) {
  const auto op = [](Tensor& t, const Tensor& end, const Tensor& weight) { at::lerp_(t, end, weight); };
  return foreach_apply(op, self, tensors1, weights);
}
static TensorVector foreach_lerp_scalar(TensorList self, TensorList tensors1, const Scalar& weight) {
  return foreach_map([&](const Tensor& t, const Tensor& end) { return at::lerp(t, end, weight); }, self, tensors1);
}
static NoResult foreach_lerp_scalar_(TensorList self, TensorList tensors1, const Scalar& weight) {
  return foreach_apply([&](Tensor& t, const Tensor& end) { at::lerp_(t, end, weight); }, self, tensors1);
}
static TensorVector foreach_lerp_scalar_list(TensorList self, TensorList tensors1, ScalarList weight) {
  const auto op = [](const Tensor& t, const Tensor& end, const Scalar& w) { return at::lerp(t, end, w); };
  return foreach_map(op, self, tensors1, weight);
}
static NoResult foreach_lerp_scalar_list_(TensorList self, TensorList tensors1, ScalarList weight) {
  const auto op = [](Tensor& t, const Tensor& end, const Scalar& w) { at::lerp_(t, end, w); };
  return foreach_apply(op, self, tensors1, weight);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  using variants::FUNCTION;
  // Python tries the overloads of a name in this order. A tensor that holds one number fits .Tensor and .Scalar;
  // .Tensor comes first, because reading the number would wait for the tensor's device. An empty list fits .ScalarList
  // and .List; .ScalarList comes first, as in PyTorch.
  m.def_composite("_foreach_abs(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_abs), FUNCTION);
  m.def_composite("_foreach_abs_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_abs_), FUNCTION);
  m.def_composite("_foreach_exp(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_exp), FUNCTION);
  m.def_composite("_foreach_exp_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_exp_), FUNCTION);
  m.def_composite("_foreach_neg(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_neg), FUNCTION);
  m.def_composite("_foreach_neg_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_neg_), FUNCTION);
  m.def_composite("_foreach_reciprocal(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_reciprocal), FUNCTION);
  m.def_composite("_foreach_reciprocal_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_reciprocal_), FUNCTION);
  m.def_composite("_foreach_rsqrt(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_rsqrt), FUNCTION);
  m.def_composite("_foreach_rsqrt_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_rsqrt_), FUNCTION);
  m.def_composite("_foreach_sign(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_sign), FUNCTION);
  m.def_composite("_foreach_sign_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_sign_), FUNCTION);
  m.def_composite("_foreach_sqrt(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_sqrt), FUNCTION);
  m.def_composite("_foreach_sqrt_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_sqrt_), FUNCTION);
  m.def_composite("_foreach_zero_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_zero_), FUNCTION);
  m.def_composite("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]",
                  TORCH_FN(foreach_clone), FUNCTION);
  m.def_composite("_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
                  TORCH_FN(foreach_norm), FUNCTION);
  m.def_composite("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
                  TORCH_FN(foreach_copy_), FUNCTION);
  m.def_composite("_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]",
                  TORCH_FN(foreach_add_tensor), FUNCTION);
  m.def_composite("_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_add_scalar),
                  FUNCTION);
  m.def_composite("_foreach_add_.Tensor(Tensor(a!)[] self, Tensor other, *, Scalar alpha=1) -> ()",
                  TORCH_FN(foreach_add_tensor_), FUNCTION);
  m.def_composite("_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", TORCH_FN(foreach_add_scalar_),
                  FUNCTION);
  m.def_composite("_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_add_scalar_list), FUNCTION);
  m.def_composite("_foreach_add_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_add_scalar_list_), FUNCTION);
  m.def_composite("_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
                  TORCH_FN(foreach_add_list), FUNCTION);
  m.def_composite("_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
                  TORCH_FN(foreach_add_list_), FUNCTION);
  m.def_composite("_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_sub_scalar),
                  FUNCTION);
  m.def_composite("_foreach_sub_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", TORCH_FN(foreach_sub_scalar_),
                  FUNCTION);
  m.def_composite("_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_sub_scalar_list), FUNCTION);
  m.def_composite("_foreach_sub_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_sub_scalar_list_), FUNCTION);
  m.def_composite("_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
                  TORCH_FN(foreach_sub_list), FUNCTION);
  m.def_composite("_foreach_sub_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
                  TORCH_FN(foreach_sub_list_), FUNCTION);
  m.def_composite("_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]", TORCH_FN(foreach_mul_tensor),
                  FUNCTION);
  m.def_composite("_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_mul_scalar),
                  FUNCTION);
  m.def_composite("_foreach_mul_.Tensor(Tensor(a!)[] self, Tensor other) -> ()", TORCH_FN(foreach_mul_tensor_),
                  FUNCTION);
  m.def_composite("_foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", TORCH_FN(foreach_mul_scalar_),
                  FUNCTION);
  m.def_composite("_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_mul_scalar_list), FUNCTION);
  m.def_composite("_foreach_mul_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_mul_scalar_list_), FUNCTION);
  m.def_composite("_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_mul_list), FUNCTION);
  m.def_composite("_foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()", TORCH_FN(foreach_mul_list_), FUNCTION);
  m.def_composite("_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]", TORCH_FN(foreach_div_tensor),
                  FUNCTION);
  m.def_composite("_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_div_scalar),
                  FUNCTION);
  m.def_composite("_foreach_div_.Tensor(Tensor(a!)[] self, Tensor other) -> ()", TORCH_FN(foreach_div_tensor_),
                  FUNCTION);
  m.def_composite("_foreach_div_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", TORCH_FN(foreach_div_scalar_),
                  FUNCTION);
  m.def_composite("_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_div_scalar_list), FUNCTION);
  m.def_composite("_foreach_div_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_div_scalar_list_), FUNCTION);
  m.def_composite("_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_div_list), FUNCTION);
  m.def_composite("_foreach_div_.List(Tensor(a!)[] self, Tensor[] other) -> ()", TORCH_FN(foreach_div_list_), FUNCTION);
  m.def_composite("_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                  TORCH_FN(foreach_clamp_min_scalar), FUNCTION);
  m.def_composite("_foreach_clamp_min_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
                  TORCH_FN(foreach_clamp_min_scalar_), FUNCTION);
  m.def_composite("_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_clamp_min_scalar_list), FUNCTION);
  m.def_composite("_foreach_clamp_min_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_clamp_min_scalar_list_), FUNCTION);
  m.def_composite("_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]",
                  TORCH_FN(foreach_clamp_min_list), FUNCTION);
  m.def_composite("_foreach_clamp_min_.List(Tensor(a!)[] self, Tensor[] other) -> ()",
                  TORCH_FN(foreach_clamp_min_list_), FUNCTION);
  m.def_composite("_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                  TORCH_FN(foreach_clamp_max_scalar), FUNCTION);
  m.def_composite("_foreach_clamp_max_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
                  TORCH_FN(foreach_clamp_max_scalar_), FUNCTION);
  m.def_composite("_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_clamp_max_scalar_list), FUNCTION);
  m.def_composite("_foreach_clamp_max_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_clamp_max_scalar_list_), FUNCTION);
  m.def_composite("_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]",
                  TORCH_FN(foreach_clamp_max_list), FUNCTION);
  m.def_composite("_foreach_clamp_max_.List(Tensor(a!)[] self, Tensor[] other) -> ()",
                  TORCH_FN(foreach_clamp_max_list_), FUNCTION);
  m.def_composite("_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                  TORCH_FN(foreach_clamp_min_scalar), FUNCTION);
  m.def_composite("_foreach_maximum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
                  TORCH_FN(foreach_clamp_min_scalar_), FUNCTION);
  m.def_composite("_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_clamp_min_scalar_list), FUNCTION);
  m.def_composite("_foreach_maximum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_clamp_min_scalar_list_), FUNCTION);
  m.def_composite("_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_maximum_list),
                  FUNCTION);
  m.def_composite("_foreach_maximum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", TORCH_FN(foreach_maximum_list_),
                  FUNCTION);
  m.def_composite("_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                  TORCH_FN(foreach_clamp_max_scalar), FUNCTION);
  m.def_composite("_foreach_minimum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
                  TORCH_FN(foreach_clamp_max_scalar_), FUNCTION);
  m.def_composite("_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
                  TORCH_FN(foreach_clamp_max_scalar_list), FUNCTION);
  m.def_composite("_foreach_minimum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                  TORCH_FN(foreach_clamp_max_scalar_list_), FUNCTION);
  m.def_composite("_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_minimum_list),
                  FUNCTION);
  m.def_composite("_foreach_minimum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", TORCH_FN(foreach_minimum_list_),
                  FUNCTION);
  m.def_composite("_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]",
                  TORCH_FN(foreach_pow_scalar_list), FUNCTION);
  m.def_composite("_foreach_pow_.ScalarList(Tensor(a!)[] self, Scalar[] exponent) -> ()",
                  TORCH_FN(foreach_pow_scalar_list_), FUNCTION);
  m.def_composite("_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]", TORCH_FN(foreach_pow_list),
                  FUNCTION);
  m.def_composite("_foreach_pow_.List(Tensor(a!)[] self, Tensor[] exponent) -> ()", TORCH_FN(foreach_pow_list_),
                  FUNCTION);
  m.def_composite("_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", TORCH_FN(foreach_pow_scalar),
                  FUNCTION);
  m.def_composite("_foreach_pow_.Scalar(Tensor(a!)[] self, Scalar exponent) -> ()", TORCH_FN(foreach_pow_scalar_),
                  FUNCTION);
  m.def_composite("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
                  TORCH_FN(foreach_scalar_pow), FUNCTION);
  m.def_composite(
      "_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]",
      TORCH_FN(foreach_addcmul_scalar_list), FUNCTION);
  m.def_composite(
      "_foreach_addcmul.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
      TORCH_FN(foreach_addcmul_tensor), FUNCTION);
  m.def_composite(
      "_foreach_addcmul_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> ()",
      TORCH_FN(foreach_addcmul_scalar_list_), FUNCTION);
  m.def_composite(
      "_foreach_addcmul_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()",
      TORCH_FN(foreach_addcmul_tensor_), FUNCTION);
  m.def_composite(
      "_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
      TORCH_FN(foreach_addcmul), FUNCTION);
  m.def_composite(
      "_foreach_addcmul_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
      TORCH_FN(foreach_addcmul_), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]",
      TORCH_FN(foreach_addcdiv_scalar_list), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
      TORCH_FN(foreach_addcdiv_tensor), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> ()",
      TORCH_FN(foreach_addcdiv_scalar_list_), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()",
      TORCH_FN(foreach_addcdiv_tensor_), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
      TORCH_FN(foreach_addcdiv), FUNCTION);
  m.def_composite(
      "_foreach_addcdiv_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
      TORCH_FN(foreach_addcdiv_), FUNCTION);
  m.def_composite("_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]",
                  TORCH_FN(foreach_lerp_scalar_list), FUNCTION);
  m.def_composite("_foreach_lerp_.ScalarList(Tensor(a!)[] self, Tensor[] tensors1, Scalar[] weight) -> ()",
                  TORCH_FN(foreach_lerp_scalar_list_), FUNCTION);
  m.def_composite("_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]",
                  TORCH_FN(foreach_lerp_list), FUNCTION);
  m.def_composite("_foreach_lerp_.List(Tensor(a!)[] self, Tensor[] tensors1, Tensor[] weights) -> ()",
                  TORCH_FN(foreach_lerp_list_), FUNCTION);
  m.def_composite("_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]",
                  TORCH_FN(foreach_lerp_scalar), FUNCTION);
  m.def_composite("_foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ()",
                  TORCH_FN(foreach_lerp_scalar_), FUNCTION);
}

} // namespace reftorch::at::native
