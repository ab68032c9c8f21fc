// Mirrors: aten/src/ATen/native/ReduceOps.cpp
//
// Variance and standard deviation. The divisor is the number of elements minus `correction`: 1 for a sample, 0 for a
// whole population. Left out: complex numbers.
#include <ATen/native/ReduceOps.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(std_var_stub)

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
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", TORCH_FN(var_mean), FUNCTION);
  m.def_composite("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
                  TORCH_FN(var_mean_dim), FUNCTION);
  m.def(
      "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      TORCH_FN(std_var_mean<false>), kernels(mean_stub, std_var_stub), FUNCTION);
  m.def_composite("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", TORCH_FN(std_mean), FUNCTION);
  m.def_composite("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
                  TORCH_FN(std_mean_dim), FUNCTION);
  m.def(
      "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      TORCH_FN(std_var_mean<true>), kernels(mean_stub, std_var_stub), FUNCTION);
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
