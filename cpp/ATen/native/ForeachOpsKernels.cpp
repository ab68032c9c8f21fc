// Mirrors: aten/src/ATen/native/ForeachOpsKernels.cpp, aten/src/ATen/native/ForeachUtils.h
//
// Functions of lists of tensors: one call from Python does the work of a loop over the tensors. Optimizers use these
// functions, because the tensors of a network are many and often small, so the calls take longer than the arithmetic.
// Every function here is a loop over the op for one tensor, as PyTorch's functions are on the CPU; autograd records
// those ops. The op is the parameter of a template: foreach_list<at::mul> multiplies two lists. Left out: the functions
// that no optimizer calls, and out=.
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

// Returns `other` after a check that it holds one number. As an operand it counts as a tensor in type promotion.
static const Tensor& checked_scalar_tensor(const Tensor& other) {
  TORCH_CHECK(other.dim() == 0 && other.numel() == 1, "scalar tensor expected to be 0 dim but it has ", other.dim(),
              " dimensions and ", other.numel(), " elements.");
  return other;
}

// Returns the numbers in `scalars`, a tensor of one dimension with one number for each of `length` tensors.
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

// --- ops -------------------------------------------------------------------------------------------------------------

// The types of the ops for one tensor. A type with an underscore belongs to the forms in place.
using UnaryOp = Tensor (*)(const Tensor&);
using UnaryOp_ = Tensor& (*)(Tensor&);
using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);
using BinaryOp_ = Tensor& (*)(Tensor&, const Tensor&);
using ScalarOp = Tensor (*)(const Tensor&, const Scalar&);
using ScalarOp_ = Tensor& (*)(Tensor&, const Scalar&);
using AlphaOp = Tensor (*)(const Tensor&, const Tensor&, const Scalar& alpha);
using AlphaOp_ = Tensor& (*)(Tensor&, const Tensor&, const Scalar& alpha);
using PointwiseOp = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Scalar& value);
using PointwiseOp_ = Tensor& (*)(Tensor&, const Tensor&, const Tensor&, const Scalar& value);

// add and sub with alpha = 1, as a BinaryOp and as a ScalarOp.
template <typename Operand>
static Tensor plus(const Tensor& a, const Operand& b) {
  return at::add(a, b);
}
template <typename Operand>
static Tensor& plus_(Tensor& a, const Operand& b) {
  return at::add_(a, b);
}
template <typename Operand>
static Tensor minus(const Tensor& a, const Operand& b) {
  return at::sub(a, b);
}
template <typename Operand>
static Tensor& minus_(Tensor& a, const Operand& b) {
  return at::sub_(a, b);
}

// maximum with a number is clamp_min, and minimum is clamp_max, as in PyTorch. Of two lists, equal elements share the
// gradient, which clamp_min gives to the first list alone. So the forms in place call clamp_min_ and clamp_max_, which
// need no memory for a result, only where no gradient is recorded. Where a gradient is recorded, backward needs the
// elements from before the call, so they are cloned. Such a graph has the nodes of maximum and copy_, where the graph
// of PyTorch has MaximumBackward0 alone.
static bool records_gradient(const Tensor& a, const Tensor& b) {
  return (c10::GradMode::is_enabled() && (a.requires_grad() || b.requires_grad())) || c10::ForwardAD::is_active();
}
static Tensor& maximum_(Tensor& a, const Tensor& b) {
  return records_gradient(a, b) ? at::copy_(a, at::maximum(at::clone(a), b)) : at::clamp_min_(a, b);
}
static Tensor& minimum_(Tensor& a, const Tensor& b) {
  return records_gradient(a, b) ? at::copy_(a, at::minimum(at::clone(a), b)) : at::clamp_max_(a, b);
}

// --- one list --------------------------------------------------------------------------------------------------------

template <UnaryOp op>
static TensorVector foreach_unary(TensorList self) {
  return foreach_map([](const Tensor& t) { return op(t); }, self);
}
template <UnaryOp_ op>
static NoResult foreach_unary_(TensorList self) {
  return foreach_apply([](Tensor& t) { op(t); }, self);
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

// --- a list, and a second list, a tensor that holds one number, a number, or a list of numbers -----------------------

template <BinaryOp op>
static TensorVector foreach_list(TensorList self, TensorList other) {
  return foreach_map([](const Tensor& a, const Tensor& b) { return op(a, b); }, self, other);
}
template <BinaryOp_ op>
static NoResult foreach_list_(TensorList self, TensorList other) {
  return foreach_apply([](Tensor& a, const Tensor& b) { op(a, b); }, self, other);
}
template <AlphaOp op>
static TensorVector foreach_list_alpha(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_map([&](const Tensor& a, const Tensor& b) { return op(a, b, alpha); }, self, other);
}
template <AlphaOp_ op>
static NoResult foreach_list_alpha_(TensorList self, TensorList other, const Scalar& alpha) {
  return foreach_apply([&](Tensor& a, const Tensor& b) { op(a, b, alpha); }, self, other);
}

template <BinaryOp op>
static TensorVector foreach_tensor(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_map([&](const Tensor& a) { return op(a, b); }, self);
}
template <BinaryOp_ op>
static NoResult foreach_tensor_(TensorList self, const Tensor& other) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_apply([&](Tensor& a) { op(a, b); }, self);
}
static TensorVector foreach_add_tensor(TensorList self, const Tensor& other, const Scalar& alpha) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_map([&](const Tensor& a) { return at::add(a, b, alpha); }, self);
}
static NoResult foreach_add_tensor_(TensorList self, const Tensor& other, const Scalar& alpha) {
  const Tensor& b = checked_scalar_tensor(other);
  return foreach_apply([&](Tensor& a) { at::add_(a, b, alpha); }, self);
}

// Calls an op of two tensors. The number becomes a tensor once for the whole list; that tensor counts as a Python
// number in type promotion.
template <BinaryOp op>
static TensorVector foreach_number(TensorList self, const Scalar& scalar) {
  const Tensor b = detail::wrapped_scalar_tensor(scalar);
  return foreach_map([&](const Tensor& a) { return op(a, b); }, self);
}
template <BinaryOp_ op>
static NoResult foreach_number_(TensorList self, const Scalar& scalar) {
  const Tensor b = detail::wrapped_scalar_tensor(scalar);
  return foreach_apply([&](Tensor& a) { op(a, b); }, self);
}
// Calls an op of a tensor and a number.
template <ScalarOp op>
static TensorVector foreach_scalar(TensorList self, const Scalar& scalar) {
  return foreach_map([&](const Tensor& a) { return op(a, scalar); }, self);
}
template <ScalarOp_ op>
static NoResult foreach_scalar_(TensorList self, const Scalar& scalar) {
  return foreach_apply([&](Tensor& a) { op(a, scalar); }, self);
}
template <ScalarOp op>
static TensorVector foreach_scalar_list(TensorList self, ScalarList scalars) {
  return foreach_map([](const Tensor& a, const Scalar& b) { return op(a, b); }, self, scalars);
}
template <ScalarOp_ op>
static NoResult foreach_scalar_list_(TensorList self, ScalarList scalars) {
  return foreach_apply([](Tensor& a, const Scalar& b) { op(a, b); }, self, scalars);
}
static TensorVector foreach_scalar_pow(const Scalar& self, TensorList exponent) {
  return foreach_map([&](const Tensor& b) { return at::pow(self, b); }, exponent);
}

// --- three lists -----------------------------------------------------------------------------------------------------

template <PointwiseOp op>
static TensorVector foreach_pointwise(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto call = [&](const Tensor& t, const Tensor& a, const Tensor& b) { return op(t, a, b, value); };
  return foreach_map(call, self, tensor1, tensor2);
}
template <PointwiseOp_ op>
static NoResult foreach_pointwise_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  const auto call = [&](Tensor& t, const Tensor& a, const Tensor& b) { op(t, a, b, value); };
  return foreach_apply(call, self, tensor1, tensor2);
}
template <PointwiseOp op>
static TensorVector foreach_pointwise_scalar_list(TensorList self, TensorList tensor1, TensorList tensor2,
                                                  ScalarList scalars) {
  const auto call = [](const Tensor& t, const Tensor& a, const Tensor& b, const Scalar& c) { return op(t, a, b, c); };
  return foreach_map(call, self, tensor1, tensor2, scalars);
}
template <PointwiseOp_ op>
static NoResult foreach_pointwise_scalar_list_(TensorList self, TensorList tensor1, TensorList tensor2,
                                               ScalarList scalars) {
  const auto call = [](Tensor& t, const Tensor& a, const Tensor& b, const Scalar& value) { op(t, a, b, value); };
  return foreach_apply(call, self, tensor1, tensor2, scalars);
}
template <PointwiseOp op>
static TensorVector foreach_pointwise_tensor(TensorList self, TensorList tensor1, TensorList tensor2,
                                             const Tensor& scalars) {
  const std::vector<Scalar> numbers = convert_tensor_to_scalar_list(scalars, self.size());
  return foreach_pointwise_scalar_list<op>(self, tensor1, tensor2, numbers);
}
template <PointwiseOp_ op>
static NoResult foreach_pointwise_tensor_(TensorList self, TensorList tensor1, TensorList tensor2,
                                          const Tensor& scalars) {
  const std::vector<Scalar> numbers = convert_tensor_to_scalar_list(scalars, self.size());
  return foreach_pointwise_scalar_list_<op>(self, tensor1, tensor2, numbers);
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

// Defines an op and its form in place: for "_foreach_f.List(Tensor[] self, Tensor[] other) -> Tensor[]" also
// "_foreach_f_.List(Tensor(a!)[] self, Tensor[] other) -> ()".
template <auto fn, auto fn_>
static void def_foreach(Library& m, const LocatedText& schema, CompileTimeFunctionPointer<fn> functional,
                        CompileTimeFunctionPointer<fn_> in_place) {
  m.def_composite(schema, functional, variants::FUNCTION);
  std::string text = schema.text;
  text.insert(text.find_first_of(".("), "_");
  text.replace(text.find("Tensor[] self"), 8, "Tensor(a!)[]");
  text.replace(text.rfind("Tensor[]"), 8, "()");
  m.def_composite(LocatedText(text, schema.file, schema.line), in_place, variants::FUNCTION);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  using variants::FUNCTION;
  // Python tries the overloads of a name in this order. A tensor that holds one number fits .Tensor and .Scalar;
  // .Tensor comes first, because reading the number would wait for the tensor's device. An empty list fits .ScalarList
  // and .List; .ScalarList comes first, as in PyTorch.
  def_foreach(m, "_foreach_abs(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::abs>),
              TORCH_FN(foreach_unary_<at::abs_>));
  def_foreach(m, "_foreach_exp(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::exp>),
              TORCH_FN(foreach_unary_<at::exp_>));
  def_foreach(m, "_foreach_neg(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::neg>),
              TORCH_FN(foreach_unary_<at::neg_>));
  def_foreach(m, "_foreach_reciprocal(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::reciprocal>),
              TORCH_FN(foreach_unary_<at::reciprocal_>));
  def_foreach(m, "_foreach_rsqrt(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::rsqrt>),
              TORCH_FN(foreach_unary_<at::rsqrt_>));
  def_foreach(m, "_foreach_sign(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::sign>),
              TORCH_FN(foreach_unary_<at::sign_>));
  def_foreach(m, "_foreach_sqrt(Tensor[] self) -> Tensor[]", TORCH_FN(foreach_unary<at::sqrt>),
              TORCH_FN(foreach_unary_<at::sqrt_>));
  m.def_composite("_foreach_zero_(Tensor(a!)[] self) -> ()", TORCH_FN(foreach_unary_<at::zero_>), FUNCTION);
  m.def_composite("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]",
                  TORCH_FN(foreach_clone), FUNCTION);
  m.def_composite("_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
                  TORCH_FN(foreach_norm), FUNCTION);
  m.def_composite("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
                  TORCH_FN(foreach_copy_), FUNCTION);
  def_foreach(m, "_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]",
              TORCH_FN(foreach_add_tensor), TORCH_FN(foreach_add_tensor_));
  def_foreach(m, "_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_number<plus>),
              TORCH_FN(foreach_number_<plus_>));
  def_foreach(m, "_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<plus>), TORCH_FN(foreach_scalar_list_<plus_>));
  def_foreach(m, "_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
              TORCH_FN(foreach_list_alpha<at::add>), TORCH_FN(foreach_list_alpha_<at::add_>));
  def_foreach(m, "_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_number<minus>),
              TORCH_FN(foreach_number_<minus_>));
  def_foreach(m, "_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<minus>), TORCH_FN(foreach_scalar_list_<minus_>));
  def_foreach(m, "_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
              TORCH_FN(foreach_list_alpha<at::sub>), TORCH_FN(foreach_list_alpha_<at::sub_>));
  def_foreach(m, "_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]", TORCH_FN(foreach_tensor<at::mul>),
              TORCH_FN(foreach_tensor_<at::mul_>));
  def_foreach(m, "_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_number<at::mul>),
              TORCH_FN(foreach_number_<at::mul_>));
  def_foreach(m, "_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::mul>), TORCH_FN(foreach_scalar_list_<at::mul_>));
  def_foreach(m, "_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_list<at::mul>),
              TORCH_FN(foreach_list_<at::mul_>));
  def_foreach(m, "_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]", TORCH_FN(foreach_tensor<at::div>),
              TORCH_FN(foreach_tensor_<at::div_>));
  def_foreach(m, "_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", TORCH_FN(foreach_number<at::div>),
              TORCH_FN(foreach_number_<at::div_>));
  def_foreach(m, "_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::div>), TORCH_FN(foreach_scalar_list_<at::div_>));
  def_foreach(m, "_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]", TORCH_FN(foreach_list<at::div>),
              TORCH_FN(foreach_list_<at::div_>));
  def_foreach(m, "_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
              TORCH_FN(foreach_scalar<at::clamp_min>), TORCH_FN(foreach_scalar_<at::clamp_min_>));
  def_foreach(m, "_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::clamp_min>), TORCH_FN(foreach_scalar_list_<at::clamp_min_>));
  def_foreach(m, "_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]",
              TORCH_FN(foreach_list<at::clamp_min>), TORCH_FN(foreach_list_<at::clamp_min_>));
  def_foreach(m, "_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
              TORCH_FN(foreach_scalar<at::clamp_max>), TORCH_FN(foreach_scalar_<at::clamp_max_>));
  def_foreach(m, "_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::clamp_max>), TORCH_FN(foreach_scalar_list_<at::clamp_max_>));
  def_foreach(m, "_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]",
              TORCH_FN(foreach_list<at::clamp_max>), TORCH_FN(foreach_list_<at::clamp_max_>));
  def_foreach(m, "_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
              TORCH_FN(foreach_scalar<at::clamp_min>), TORCH_FN(foreach_scalar_<at::clamp_min_>));
  def_foreach(m, "_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::clamp_min>), TORCH_FN(foreach_scalar_list_<at::clamp_min_>));
  def_foreach(m, "_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]",
              TORCH_FN(foreach_list<at::maximum>), TORCH_FN(foreach_list_<maximum_>));
  def_foreach(m, "_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
              TORCH_FN(foreach_scalar<at::clamp_max>), TORCH_FN(foreach_scalar_<at::clamp_max_>));
  def_foreach(m, "_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::clamp_max>), TORCH_FN(foreach_scalar_list_<at::clamp_max_>));
  def_foreach(m, "_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]",
              TORCH_FN(foreach_list<at::minimum>), TORCH_FN(foreach_list_<minimum_>));
  def_foreach(m, "_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]",
              TORCH_FN(foreach_scalar_list<at::pow>), TORCH_FN(foreach_scalar_list_<at::pow_>));
  def_foreach(m, "_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]", TORCH_FN(foreach_list<at::pow>),
              TORCH_FN(foreach_list_<at::pow_>));
  def_foreach(m, "_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", TORCH_FN(foreach_scalar<at::pow>),
              TORCH_FN(foreach_scalar_<at::pow_>));
  m.def_composite("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
                  TORCH_FN(foreach_scalar_pow), FUNCTION);
  def_foreach(
      m, "_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]",
      TORCH_FN(foreach_pointwise_scalar_list<at::addcmul>), TORCH_FN(foreach_pointwise_scalar_list_<at::addcmul_>));
  def_foreach(m,
              "_foreach_addcmul.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
              TORCH_FN(foreach_pointwise_tensor<at::addcmul>), TORCH_FN(foreach_pointwise_tensor_<at::addcmul_>));
  def_foreach(m,
              "_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
              TORCH_FN(foreach_pointwise<at::addcmul>), TORCH_FN(foreach_pointwise_<at::addcmul_>));
  def_foreach(
      m, "_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]",
      TORCH_FN(foreach_pointwise_scalar_list<at::addcdiv>), TORCH_FN(foreach_pointwise_scalar_list_<at::addcdiv_>));
  def_foreach(m,
              "_foreach_addcdiv.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
              TORCH_FN(foreach_pointwise_tensor<at::addcdiv>), TORCH_FN(foreach_pointwise_tensor_<at::addcdiv_>));
  def_foreach(m,
              "_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
              TORCH_FN(foreach_pointwise<at::addcdiv>), TORCH_FN(foreach_pointwise_<at::addcdiv_>));
  def_foreach(m, "_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]",
              TORCH_FN(foreach_lerp_scalar_list), TORCH_FN(foreach_lerp_scalar_list_));
  def_foreach(m, "_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]",
              TORCH_FN(foreach_lerp_list), TORCH_FN(foreach_lerp_list_));
  def_foreach(m, "_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]",
              TORCH_FN(foreach_lerp_scalar), TORCH_FN(foreach_lerp_scalar_));
}

} // namespace reftorch::at::native
