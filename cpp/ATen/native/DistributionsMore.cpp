// Mirrors: aten/src/ATen/native/Distributions.cpp, aten/src/ATen/native/DistributionTemplates.h
//
// The less common distributions: exponential, geometric, Cauchy, log-normal, Poisson, binomial, gamma, Dirichlet,
// multinomial. Left out: nothing.
#include <ATen/native/Distributions.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TypeMetaName.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace reftorch::at::native {

DEFINE_DISPATCH(exponential_stub)
DEFINE_DISPATCH(geometric_stub)
DEFINE_DISPATCH(cauchy_stub)
DEFINE_DISPATCH(log_normal_stub)
DEFINE_DISPATCH(poisson_stub)
DEFINE_DISPATCH(binomial_stub)
DEFINE_DISPATCH(gamma_stub)
DEFINE_DISPATCH(gamma_grad_stub)
DEFINE_DISPATCH(dirichlet_grad_stub)
DEFINE_DISPATCH(multinomial_with_replacement_stub)
DEFINE_DISPATCH(fastest_stub)

static Tensor& exponential_(Tensor& self, double lambd, const OptionalGenerator& generator) {
  TORCH_CHECK(lambd > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  TORCH_CHECK(self.is_floating_point(), "Exponential distribution is a continuous probability distribution. ",
              "dtype must be a floating point but you specified ", self.scalar_type());
  auto iter = TensorIterator::nullary_op(self);
  exponential_stub(iter.device_type(), iter, lambd, generator);
  return self;
}

static Tensor& geometric_(Tensor& self, double p, const OptionalGenerator& generator) {
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  auto iter = TensorIterator::nullary_op(self);
  geometric_stub(iter.device_type(), iter, p, generator);
  return self;
}

static Tensor& cauchy_(Tensor& self, double median, double sigma, const OptionalGenerator& generator) {
  TORCH_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  TORCH_CHECK(self.is_floating_point(), "Cauchy distribution is a continuous probability distribution. ",
              "dtype must be a floating point but you specified ", type_meta_name(self.scalar_type()));
  auto iter = TensorIterator::nullary_op(self);
  cauchy_stub(iter.device_type(), iter, median, sigma, generator);
  return self;
}

static Tensor& log_normal_(Tensor& self, double mean, double std, const OptionalGenerator& generator) {
  TORCH_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  auto iter = TensorIterator::nullary_op(self);
  log_normal_stub(iter.device_type(), iter, mean, std, generator);
  return self;
}

// Draws a number of events for each rate in self.
static Tensor poisson(const Tensor& self, const OptionalGenerator& generator) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  auto iter = TensorIteratorConfig().add_output(result, self.scalar_type()).add_input(self).build();
  poisson_stub(iter.device_type(), iter, generator);
  return result;
}

// Draws how many of `count` trials succeed, where each succeeds with probability `prob`.
static Tensor binomial(const Tensor& count, const Tensor& prob, const OptionalGenerator& generator) {
  TORCH_CHECK_VALUE(count.is_floating_point(),
                    "binomial only supports floating-point dtypes for count, got: ", count.scalar_type());
  TORCH_CHECK_VALUE(prob.is_floating_point(),
                    "binomial only supports floating-point dtypes for prob, got: ", prob.scalar_type());
  // The result is contiguous if it has the shape of count; otherwise its strides follow those of the operands.
  Tensor result;
  if (IntArrayRef(infer_size_dimvector(count.sizes(), prob.sizes())) == count.sizes()) {
    result = detail::empty_generic(count.sizes(), count.scalar_type(), count.device());
  }
  auto iter =
      TensorIteratorConfig().add_output(result).add_input(count).add_input(prob).check_all_same_dtype(true).build();
  binomial_stub(iter.device_type(), iter, generator);
  return result;
}

// --- gamma and Dirichlet, whose samples have gradients ---------------------------------------------------------------

// Draws from the gamma distributions of rate 1 whose shape parameters are the elements of self.
static Tensor _standard_gamma(const Tensor& self, const OptionalGenerator& generator) {
  Tensor result = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  auto iter = TensorIteratorConfig().add_output(result).add_input(self).build();
  gamma_stub(iter.device_type(), iter, generator);
  return result;
}

// The kernels write to a contiguous result if no operand is broadcast, as in PyTorch.
static Tensor like_first(const Tensor& first, std::initializer_list<Tensor> others) {
  for (const Tensor& other : others) {
    if (other.sizes() != first.sizes()) {
      return Tensor();
    }
  }
  return detail::empty_generic(first.sizes(), first.scalar_type(), first.device());
}

// The derivative of the sample `output` by the shape parameter `self` from which it was drawn.
static Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  Tensor result = like_first(self, {output});
  auto iter =
      TensorIteratorConfig().add_output(result).add_input(self).add_input(output).check_all_same_dtype(true).build();
  gamma_grad_stub(iter.device_type(), iter);
  return result;
}

// Draws points of the simplex: self (*, k) -> (*, k), whose rows sum to 1. A row is k gamma variables divided by their
// sum. The gamma variables are float64, because those of a small concentration underflow in float32. No element is 0
// or 1, where the logarithm of the density can be infinite.
static Tensor _sample_dirichlet(const Tensor& self, const OptionalGenerator& generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
                              "\"dirichlet\" not implemented for '", self.scalar_type(), "'");
  const Tensor gamma = native::_standard_gamma(at::to(self, kDouble), generator);
  const Tensor share = at::to(at::div(gamma, at::sum(gamma, -1, true)), self.scalar_type());
  const bool is_double = self.scalar_type() == kDouble;
  const double smallest = is_double ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double largest = is_double ? std::nextafter(1.0, 0.0) : std::nextafter(1.0f, 0.0f);
  return at::clamp(share, smallest, largest);
}

// The derivative of an element of a Dirichlet sample by its own concentration `alpha`, where `total` is the sum of the
// concentrations; divided by 1 - x, so that the derivatives by the other concentrations follow from it.
static Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  Tensor result = like_first(x, {alpha, total});
  auto iter = TensorIteratorConfig()
                  .add_output(result)
                  .add_input(x)
                  .add_input(alpha)
                  .add_input(total)
                  .check_all_same_dtype(true)
                  .build();
  dirichlet_grad_stub(iter.device_type(), iter);
  return result;
}

// --- categories, drawn by weight -------------------------------------------------------------------------------------

static void check_weights(const Tensor& self) {
  if (self.device().is_meta()) {
    return; // a meta tensor has no weights to check
  }
  const Tensor zero = detail::wrapped_scalar_tensor(0), inf = detail::wrapped_scalar_tensor(INFINITY);
  const Tensor valid = at::logical_and(at::le(zero, self), at::lt(self, inf)); // NaN fails both comparisons
  TORCH_CHECK(at::all(valid).item().toBool(), "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor some = at::ne(at::sum(self, -1), zero);
  TORCH_CHECK(at::all(some).item().toBool(), "invalid multinomial distribution (sum of probabilities <= 0)");
}

// Each category waits an exponentially distributed time, which is shorter for a larger weight; the first n categories
// are the sample. self (rows, categories), result (rows, n). The times are drawn in the order in which self lies in
// memory.
static void multinomial_without_replacement(const Tensor& self, const Tensor& result,
                                            const OptionalGenerator& generator) {
  Tensor wait = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  native::exponential_(wait, 1, generator);
  const Tensor speed = at::to(at::div(self, wait), kDouble).contiguous();
  fastest_stub(self.device().type(), result, speed);
}

static Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                          const OptionalGenerator& generator) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(self.is_floating_point(),
              "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = self.sizes()[self.dim() - 1];
  TORCH_CHECK(replacement || num_samples <= categories,
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  // a float counts exactly up to 2^24
  TORCH_CHECK(categories <= (int64_t(1) << 24), "number of categories cannot exceed 2^24");

  const Tensor rows = self.dim() == 1 ? at::unsqueeze(self, 0) : self;
  const Tensor result = detail::empty_generic({rows.sizes()[0], num_samples}, kLong, self.device());
  if (result.numel() > 0) {
    if (replacement && num_samples > 1) {
      multinomial_with_replacement_stub(self.device().type(), result, rows.contiguous(), generator);
    } else {
      check_weights(rows);
      multinomial_without_replacement(rows, result, generator);
    }
  }
  return self.dim() == 1 ? at::view(result, num_samples) : result;
}

static Tensor& multinomial_out(const Tensor& self, int64_t num_samples, bool replacement,
                               const OptionalGenerator& generator, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == kLong, "multinomial expects Long tensor out, got: ", out.scalar_type());
  const Tensor result = multinomial(self, num_samples, replacement, generator);
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int METHOD = variants::METHOD, FUNCTION = variants::FUNCTION;
  m.def("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(exponential_), kernels(exponential_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)", TORCH_FN(geometric_),
        kernels(geometric_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(cauchy_), kernels(cauchy_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(log_normal_), kernels(log_normal_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("poisson(Tensor self, Generator? generator=None) -> Tensor", TORCH_FN(poisson), kernels(poisson_stub),
        tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", TORCH_FN(binomial),
        kernels(binomial_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", TORCH_FN(_standard_gamma),
        kernels(gamma_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", TORCH_FN(_standard_gamma_grad),
        kernels(gamma_grad_stub), FUNCTION);
  m.def("_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", TORCH_FN(_sample_dirichlet),
        kernels(gamma_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", TORCH_FN(_dirichlet_grad),
        kernels(dirichlet_grad_stub), FUNCTION);
  m.def("multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        TORCH_FN(multinomial), kernels(exponential_stub, multinomial_with_replacement_stub, fastest_stub),
        tags(Tag::nondeterministic_seeded));
  m.def(
      "multinomial.out(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None, Tensor(a!) "
      "out) -> Tensor(a!)",
      TORCH_FN(multinomial_out), kernels(exponential_stub, multinomial_with_replacement_stub, fastest_stub),
      tags(Tag::nondeterministic_seeded), FUNCTION);
}

} // namespace reftorch::at::native
