// Mirrors: aten/src/ATen/native/ReduceOps.cpp
//
// Sums, means, products, truth values (all, any), norms, variance and standard deviation. The largest and smallest
// elements are in ReduceExtremaOps.cpp. Left out: complex numbers, the vector_norm of linalg.
#include <ATen/native/ReduceOps.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(sum_stub)
DEFINE_DISPATCH(nansum_stub)
DEFINE_DISPATCH(mean_stub)
DEFINE_DISPATCH(prod_stub)
DEFINE_DISPATCH(and_stub)
DEFINE_DISPATCH(or_stub)
DEFINE_DISPATCH(norm_stub)
DEFINE_DISPATCH(std_var_stub)

using OptionalType = std::optional<ScalarType>;

// Runs the kernel; if there is nothing to reduce, the result is `identity`.
template <auto& stub>
static void reduce(Tensor& out, const Tensor& self, OptionalIntArrayRef dims, bool keepdim, ScalarType in_dtype,
                   ScalarType out_dtype, const Scalar& identity) {
  ReductionPlan reduction(out, self, dims, keepdim, in_dtype, out_dtype);
  if (reduction.empty()) {
    at::fill_(out, identity);
    return;
  }
  stub(reduction.iter().device_type(), reduction.iter());
  reduction.finish();
}

static void sum_dim_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, OptionalType opt_dtype,
                        Tensor& out) {
  const ScalarType dtype = infer_dtype_from_optional(self, opt_dtype, out, "sum");
  const bool widens = dtype == kLong && c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  reduce<sum_stub>(out, self, dim, keepdim, widens ? self.scalar_type() : dtype, dtype, 0); // the kernel widens
}

static void sum_out(const Tensor& self, OptionalType dtype, Tensor& out) {
  sum_dim_out(self, std::nullopt, /*keepdim=*/false, dtype, out);
}

static void nansum_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, OptionalType opt_dtype, Tensor& out) {
  const ScalarType dtype = infer_dtype_from_optional(self, opt_dtype, out, "nansum");
  if (self.is_floating_point() && !c10::isFloatingType(dtype)) { // an integer cannot hold a NaN, so NaN becomes 0 first
    TORCH_CHECK_NOT_IMPLEMENTED(opt_dtype.has_value() || self.numel() == 0, "\"nansum_cpu\" not implemented for '",
                                dtype, "'");
    const Tensor numbers = at::where(at::eq(self, self), self, detail::wrapped_scalar_tensor(0.0));
    reduce<sum_stub>(out, numbers, dim, keepdim, dtype, dtype, 0);
    return;
  }
  reduce<nansum_stub>(out, self, dim, keepdim, dtype, dtype, 0);
}

static Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, OptionalType dtype) {
  TORCH_CHECK(self.is_floating_point(), "nanmean(): expected input to have floating point or complex dtype but got ",
              self.scalar_type());
  TORCH_CHECK(c10::isFloatingType(dtype.value_or(self.scalar_type())),
              "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
              "dtype. Got: ",
              dtype.value_or(self.scalar_type()));
  const Tensor counted = at::eq(self, self);
  return at::div(at::nansum(self, dim, keepdim, dtype), at::sum(counted, dim.value_or(IntArrayRef()), keepdim));
}
static Tensor& nanmean_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, OptionalType dtype, Tensor& out) {
  TORCH_CHECK(self.is_floating_point(),
              "nanmean(): integral types and 'Bool' are not supported for nanmean, even for "
              "empty tensors.");
  TORCH_CHECK_NOT_IMPLEMENTED(out.is_floating_point() || self.numel() == 0, "\"nansum_cpu\" not implemented for '",
                              out.scalar_type(), "'");
  const Tensor result = nanmean(self, dim, keepdim, dtype);
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

static void mean_dim_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, OptionalType opt_dtype,
                         Tensor& out) {
  const ScalarType dtype = opt_dtype.value_or(self.scalar_type());
  TORCH_CHECK(c10::isFloatingType(dtype), "mean(): could not infer output dtype. ",
              opt_dtype.has_value() ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", dtype);
  TORCH_CHECK(!opt_dtype.has_value() || !out.defined() || out.scalar_type() == dtype,
              "Expected out tensor to have dtype ", c10::dtypeName(dtype), ", but got ",
              c10::dtypeName(out.scalar_type()), " instead");
  reduce<mean_stub>(out, self, dim, keepdim, dtype, dtype, std::numeric_limits<double>::quiet_NaN());
}

static void mean_out(const Tensor& self, OptionalType dtype, Tensor& out) {
  mean_dim_out(self, std::nullopt, /*keepdim=*/false, dtype, out);
}

static void prod_dims(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, OptionalType opt_dtype, Tensor& out) {
  const ScalarType dtype = infer_dtype_from_optional(self, opt_dtype, out, "prod");
  reduce<prod_stub>(out, self, dims, keepdim, dtype, dtype, 1);
}

static void prod_dim_out(const Tensor& self, int64_t dim, bool keepdim, OptionalType dtype, Tensor& out) {
  prod_dims(self, IntArrayRef(dim), keepdim, dtype, out);
}

static void prod_out(const Tensor& self, OptionalType dtype, Tensor& out) {
  prod_dims(self, std::nullopt, /*keepdim=*/false, dtype, out);
}

// The result is bool; for uint8 it is uint8, as in PyTorch, where all and any are older than bool tensors. The kernels
// see bool only.
template <auto& stub, bool identity>
static void all_any(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, const char* name, Tensor& out) {
  const ScalarType dtype = self.scalar_type() == kByte ? kByte : kBool;
  TORCH_CHECK(!out.defined() || out.scalar_type() == kBool || out.scalar_type() == kByte, name,
              " only supports bool tensor for result, got: ", out.scalar_type());
  if (!out.defined()) {
    out = detail::empty_generic(shape_from_dim_mask(self, make_dim_mask(dims, self.dim()), keepdim), dtype,
                                self.device());
  }
  reduce<stub>(out, self, dims, keepdim, kBool, kBool, identity);
}

static void all_out(const Tensor& self, Tensor& out) {
  all_any<and_stub, true>(self, std::nullopt, /*keepdim=*/false, "all", out);
}
static void all_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  all_any<and_stub, true>(self, IntArrayRef(dim), keepdim, "all", out);
}
static void any_out(const Tensor& self, Tensor& out) {
  all_any<or_stub, false>(self, std::nullopt, /*keepdim=*/false, "any", out);
}
static void any_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  all_any<or_stub, false>(self, IntArrayRef(dim), keepdim, "any", out);
}

// Here an empty list of dims means no dimension: nothing is reduced, and each element is cast to bool by itself.
template <auto& stub, bool identity>
static void all_any_dims(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, const char* name, Tensor& out) {
  if (!dims.has_value() || !dims->empty() || self.dim() == 0) {
    all_any<stub, identity>(self, dims, keepdim, name, out);
    return;
  }
  const Tensor truth = at::ne(self, detail::wrapped_scalar_tensor(0));
  if (!out.defined()) {
    out = detail::empty_generic(self.sizes(), self.scalar_type() == kByte ? kByte : kBool, self.device());
  }
  TORCH_CHECK(out.scalar_type() == kBool || out.scalar_type() == kByte, name,
              " only supports bool tensor for result, got: ", out.scalar_type());
  resize_output(out, self.sizes());
  at::copy_(out, truth);
}
static void all_dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, Tensor& out) {
  all_any_dims<and_stub, true>(self, dim, keepdim, "all", out);
}
static void any_dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, Tensor& out) {
  all_any_dims<or_stub, false>(self, dim, keepdim, "any", out);
}

static Tensor count_nonzero_dims(const Tensor& self, IntArrayRef dim) {
  return at::sum(self.scalar_type() == kBool ? self : at::ne(self, detail::wrapped_scalar_tensor(0)), dim);
}

static Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return count_nonzero_dims(self, dim.has_value() ? IntArrayRef(*dim) : IntArrayRef());
}

// (sum |x|^p)^(1/p). For p = inf the norm is the largest |x|, for -inf the smallest |x|, for 0 the count of nonzero
// elements.
static void norm_dim_out(const Tensor& self, const std::optional<Scalar>& opt_p, IntArrayRef dim, bool keepdim,
                         Tensor& out) {
  const ScalarType dtype = self.scalar_type();
  const double p = opt_p.has_value() ? opt_p->toDouble() : 2;
  TORCH_CHECK(c10::isFloatingType(dtype),
              "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", dtype);
  TORCH_CHECK(!out.defined() || out.scalar_type() == dtype, "Expected out tensor to have dtype ", c10::dtypeName(dtype),
              ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  if (p < 0 || p == std::numeric_limits<double>::infinity()) {
    TORCH_CHECK(self.numel() > 0 || !dim.empty(), "linalg.vector_norm cannot compute the ",
                std::isinf(p) ? (p < 0 ? "-inf" : "inf") : c10::str(p),
                " norm on an empty tensor because the operation does not have an identity");
    for (int64_t d : dim) {
      TORCH_CHECK(self.numel() > 0 || self.size(d) > 0, "linalg.vector_norm cannot compute the ",
                  std::isinf(p) ? (p < 0 ? "-inf" : "inf") : c10::str(p), " norm on the dimension ", d,
                  " because this dimension is empty and the operation does not have an identity");
    }
  }
  ReductionPlan reduction(out, self, dim, keepdim, dtype, dtype);
  if (reduction.empty()) {
    at::fill_(out, 0);
    return;
  }
  norm_stub(reduction.iter().device_type(), reduction.iter(), p);
}

static void norm_out(const Tensor& self, const Scalar& p, Tensor& out) {
  norm_dim_out(self, p, {}, /*keepdim=*/false, out);
}

// log(sum(e^x)). The largest element is subtracted first, so that no exponential overflows. The sum is computed in the
// dtype of out if that dtype is wider.
static void logsumexp_out(const Tensor& self, IntArrayRef dim, bool keepdim, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.is_floating_point(),
              "logsumexp(): Expected floating point type for result tensor, but got: ",
              out.defined() ? out.scalar_type() : kFloat);
  const Tensor values = self.is_floating_point() ? self : cast_to_dtype(self, get_default_dtype());
  Tensor result;
  if (values.numel() == 0) {
    result = at::log(at::sum(at::exp(values), dim, keepdim));
  } else {
    const Tensor infinity = detail::wrapped_scalar_tensor(std::numeric_limits<double>::infinity());
    Tensor largest = at::amax(values, dim, /*keepdim=*/true);
    largest = at::where(at::eq(at::abs(largest), infinity), detail::wrapped_scalar_tensor(0.0), largest);
    const Tensor powers = at::exp(at::sub(values, largest));
    const bool widen = out.defined() && out.scalar_type() != values.scalar_type() &&
                       c10::promoteTypes(values.scalar_type(), out.scalar_type()) == out.scalar_type();
    const Tensor sum = at::sum(widen ? cast_to_dtype(powers, out.scalar_type()) : powers, dim, keepdim);
    result = at::add(at::log(sum), keepdim ? largest : at::reshape(largest, sum.sizes()));
  }
  if (!out.defined()) {
    out = result;
    return;
  }
  resize_output(out, result.sizes());
  at::copy_(out, result);
}

// The norm, computed in the given dtype.
static void norm_dim_dtype_out(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                               ScalarType dtype, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == dtype, "Expected out tensor to have dtype ", c10::dtypeName(dtype),
              ", but got ", c10::dtypeName(out.defined() ? out.scalar_type() : dtype), " instead");
  TORCH_CHECK(self.is_floating_point(),
              "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", self.scalar_type());
  TORCH_CHECK(c10::promoteTypes(self.scalar_type(), dtype) == dtype, "linalg.vector_norm: the dtype of the input (",
              self.scalar_type(), ") should be convertible without narrowing to the specified dtype (", dtype, ")");
  norm_dim_out(cast_to_dtype(self, dtype), p, dim, keepdim, out);
}
static void norm_dtype_out(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype, Tensor& out) {
  norm_dim_dtype_out(self, p, {}, /*keepdim=*/false, dtype, out);
}

// ---- variance and standard deviation: the divisor is the number of elements minus `correction`, which is 1 for a
// sample and 0 for a whole population

using OptionalScalar = std::optional<Scalar>;

static void warn_invalid_degrees_of_freedom(const char* name, const Tensor& self, const Tensor& out,
                                            double correction) {
  const double reduced = static_cast<double>(self.numel()) / static_cast<double>(std::max<int64_t>(out.numel(), 1));
  if (out.numel() > 0 && reduced - correction <= 0) {
    TORCH_WARN(name,
               "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
               "numel divided by output numel).");
  }
}

static void std_var_out(const char* name, const Tensor& self, OptionalIntArrayRef dim, const OptionalScalar& correction,
                        bool keepdim, bool take_sqrt, Tensor& out) {
  const ScalarType dtype = self.scalar_type();
  TORCH_CHECK(c10::isFloatingType(dtype), "std and var only support floating point and complex dtypes");
  ReductionPlan reduction(out, self, dim, keepdim, dtype, dtype);
  if (reduction.empty()) {
    warn_invalid_degrees_of_freedom(name, self, out, correction.value_or(1).toDouble());
    at::fill_(out, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const double divisor_falls_short = correction.value_or(1).toDouble();
  warn_invalid_degrees_of_freedom(name, self, out, divisor_falls_short);
  std_var_stub(reduction.iter().device_type(), reduction.iter(), divisor_falls_short, take_sqrt);
  reduction.finish();
}

static void var_correction_out(const Tensor& self, OptionalIntArrayRef dim, const OptionalScalar& correction,
                               bool keepdim, Tensor& out) {
  std_var_out("var", self, dim, correction, keepdim, /*take_sqrt=*/false, out);
}

static void std_correction_out(const Tensor& self, OptionalIntArrayRef dim, const OptionalScalar& correction,
                               bool keepdim, Tensor& out) {
  std_var_out("std", self, dim, correction, keepdim, /*take_sqrt=*/true, out);
}

// The older overload: unbiased=True means correction=1.
static Tensor var(const Tensor& self, bool unbiased) {
  return at::var(self, std::nullopt, unbiased, /*keepdim=*/false);
}
static Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, unbiased, keepdim);
}
static Tensor std_all(const Tensor& self, bool unbiased) {
  return at::std(self, std::nullopt, unbiased, /*keepdim=*/false);
}
static Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, unbiased, keepdim);
}

static Tensor& var_out(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim, Tensor& out) {
  return at::var_out(out, self, dim, unbiased, keepdim);
}
static Tensor& std_out(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim, Tensor& out) {
  return at::std_out(out, self, dim, unbiased, keepdim);
}

// Returns the variance or standard deviation, and the mean.
template <bool take_sqrt>
static std::tuple<Tensor, Tensor> std_var_mean(const Tensor& self, OptionalIntArrayRef dim,
                                               const OptionalScalar& correction, bool keepdim) {
  const char* name = take_sqrt ? "std_mean" : "var_mean";
  TORCH_CHECK(self.is_floating_point(), name, " only support floating point and complex dtypes");
  Tensor spread, mean;
  std_var_out(name, self, dim, correction, keepdim, take_sqrt, spread);
  ReductionPlan reduction(mean, self, dim, keepdim, self.scalar_type(), self.scalar_type());
  if (reduction.empty()) {
    at::fill_(mean, std::numeric_limits<double>::quiet_NaN());
  } else {
    mean_stub(reduction.iter().device_type(), reduction.iter());
  }
  return {spread, mean};
}
static std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased) {
  return at::var_mean(self, std::nullopt, unbiased, /*keepdim=*/false);
}
static std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased,
                                               bool keepdim) {
  return at::var_mean(self, dim, unbiased, keepdim);
}
static std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased) {
  return at::std_mean(self, std::nullopt, unbiased, /*keepdim=*/false);
}
static std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased,
                                               bool keepdim) {
  return at::std_mean(self, dim, unbiased, keepdim);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(sum_out), kernels(sum_stub),
                   derive::NONE);
  m.def_structured("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                   TORCH_FN(sum_dim_out), kernels(sum_stub), derive::OUT);
  m.def_structured("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(mean_out), kernels(mean_stub),
                   derive::OUT);
  m.def_structured("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                   TORCH_FN(mean_dim_out), kernels(mean_stub), derive::OUT);
  m.def_structured("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(prod_out), kernels(prod_stub),
                   derive::NONE);
  m.def_structured("prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                   TORCH_FN(prod_dim_out), kernels(prod_stub), derive::OUT);
  m.def_structured("all(Tensor self) -> Tensor", TORCH_FN(all_out), kernels(and_stub), derive::OUT);
  m.def_structured("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", TORCH_FN(all_dim_out),
                   kernels(and_stub), derive::OUT);
  m.def_structured("any(Tensor self) -> Tensor", TORCH_FN(any_out), kernels(or_stub), derive::OUT);
  m.def_structured("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", TORCH_FN(any_dim_out),
                   kernels(or_stub), derive::OUT);
  m.def_structured("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", TORCH_FN(all_dims_out),
                   kernels(and_stub), derive::OUT);
  m.def_structured("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", TORCH_FN(any_dims_out),
                   kernels(or_stub), derive::OUT);
  m.def_structured("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                   TORCH_FN(nansum_out), kernels(nansum_stub, sum_stub), derive::OUT);
  m.def_composite("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                  TORCH_FN(nanmean));
  m.def_composite(
      "nanmean.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
      "Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(nanmean_out), variants::FUNCTION);
  m.def_composite("count_nonzero(Tensor self, int? dim=None) -> Tensor", TORCH_FN(count_nonzero));
  m.def_composite("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", TORCH_FN(count_nonzero_dims));
  m.def_structured("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", TORCH_FN(norm_out), kernels(norm_stub),
                   derive::OUT);
  m.def_structured("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
                   TORCH_FN(norm_dim_out), kernels(norm_stub), derive::OUT);
  m.def_structured(
      "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> "
      "Tensor",
      TORCH_FN(norm_dim_dtype_out), kernels(norm_stub), derive::OUT);
  m.def_structured("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
                   TORCH_FN(norm_dtype_out), kernels(norm_stub), derive::OUT);
  m.def_structured("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", TORCH_FN(logsumexp_out),
                   derive::OUT);
  m.def_composite("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", TORCH_FN(var_mean),
                  variants::FUNCTION);
  m.def_composite("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
                  TORCH_FN(var_mean_dim), variants::FUNCTION);
  m.def(
      "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      TORCH_FN(std_var_mean<false>), kernels(mean_stub, std_var_stub), variants::FUNCTION);
  m.def_composite("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", TORCH_FN(std_mean),
                  variants::FUNCTION);
  m.def_composite("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
                  TORCH_FN(std_mean_dim), variants::FUNCTION);
  m.def(
      "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      TORCH_FN(std_var_mean<true>), kernels(mean_stub, std_var_stub), variants::FUNCTION);
  m.def_composite("var(Tensor self, bool unbiased=True) -> Tensor", TORCH_FN(var));
  m.def_composite("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
                  TORCH_FN(var_dim));
  m.def_composite(
      "var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(var_out), variants::FUNCTION);
  m.def_structured(
      "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      TORCH_FN(var_correction_out), kernels(std_var_stub), derive::OUT);
  m.def_composite("std(Tensor self, bool unbiased=True) -> Tensor", TORCH_FN(std_all));
  m.def_composite("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
                  TORCH_FN(std_dim));
  m.def_composite(
      "std.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(std_out), variants::FUNCTION);
  m.def_structured(
      "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      TORCH_FN(std_correction_out), kernels(std_var_stub), derive::OUT);
}

} // namespace reftorch::at::native
