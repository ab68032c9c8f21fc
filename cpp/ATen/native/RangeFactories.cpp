// Mirrors: aten/src/ATen/native/RangeFactories.cpp
//
// Evenly spaced numbers (arange, linspace), and powers of such numbers (logspace).
#include <ATen/native/Fill.h>
#include <ATen/native/RangeFactories.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(arange_stub)
DEFINE_DISPATCH(linspace_stub)
DEFINE_DISPATCH(logspace_stub)

// Runs `fill` on a contiguous tensor of n elements, and copies the result to `out` if `out` is another tensor.
template <typename Fill>
static void fill_range(Tensor& out, int64_t n, const Fill& fill) {
  if (out.numel() != n) {
    resize_output(out, n);
  }
  Tensor dense = out.is_contiguous()
                     ? out
                     : empty_like_impl(out, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  if (n > 0) {
    fill(dense);
  }
  if (!dense.is_same(out)) {
    at::copy_(out, dense);
  }
}

static void check_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  const double first = start.toDouble(), last = end.toDouble(), by = step.toDouble();
  TORCH_CHECK(by != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", start, " -> ", end);
  TORCH_CHECK((by > 0 && last >= first) || (by < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");
}

// How often `step` fits into the way from `start` to `end`. The distance of two int64 may need 64 bits, so it is
// computed without a sign.
struct WholeSteps {
  uint64_t whole;
  bool has_rest;
  WholeSteps(int64_t start, int64_t end, int64_t step) {
    const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(end), by = static_cast<uint64_t>(step);
    const uint64_t distance = step > 0 ? to - from : from - to, size = step > 0 ? by : -by;
    whole = distance / size;
    has_rest = distance % size != 0;
  }
};

static int64_t checked_count(uint64_t n) {
  TORCH_CHECK(n <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()), "invalid size, possible overflow?");
  return static_cast<int64_t>(n);
}

static int64_t arange_numel(ScalarType dtype, const Scalar& start, const Scalar& end, const Scalar& step) {
  TORCH_CHECK_NOT_IMPLEMENTED(dtype != kBool, "\"arange_cpu\" not implemented for 'Bool'");
  check_range(start, end, step);
  const double first = start.toDouble(), last = end.toDouble(), by = step.toDouble();
  if (dtype == kLong) { // a double has only 53 bits
    const int64_t s = step.toLong();
    TORCH_CHECK_VALUE(s != 0, "step must be nonzero"); // for example a step of 0.5, which becomes 0
    const WholeSteps steps(start.toLong(), end.toLong(), s);
    return checked_count(steps.whole + steps.has_rest);
  }
  const double n = std::ceil((last - first) / by);
  TORCH_CHECK(n >= 0 && n <= 9.2e18, "invalid size, possible overflow?");
  return static_cast<int64_t>(n);
}

static Tensor& arange_start_step_out(const Scalar& start, const Scalar& end, const Scalar& step, OptionalType dtype,
                                     OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  const int64_t n = arange_numel(out.scalar_type(), start, end, step);
  fill_range(out, n, [&](const Tensor& dense) { arange_stub(dense.device().type(), dense, start, step); });
  return out;
}

static Tensor& arange_start_out(const Scalar& start, const Scalar& end, OptionalType dtype, OptionalLayout layout,
                                OptionalDevice device, OptionalBool pin_memory, Tensor& out) {
  return arange_start_step_out(start, end, 1, dtype, layout, device, pin_memory, out);
}

static Tensor& arange_out(const Scalar& end, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                          OptionalBool pin_memory, Tensor& out) {
  return arange_start_step_out(0, end, 1, dtype, layout, device, pin_memory, out);
}

// Integer arguments give int64; if one argument is a float, the result has the default dtype.
static Tensor arange_start_step(const Scalar& start, const Scalar& end, const Scalar& step, OptionalType dtype,
                                OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  if (!dtype.has_value() && start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true)) {
    dtype = kLong;
  }
  Tensor out = empty_impl(int64_t(0), dtype, device, pin_memory);
  return arange_start_step_out(start, end, step, dtype, layout, device, pin_memory, out);
}

static Tensor arange_start(const Scalar& start, const Scalar& end, OptionalType dtype, OptionalLayout layout,
                           OptionalDevice device, OptionalBool pin_memory) {
  return arange_start_step(start, end, 1, dtype, layout, device, pin_memory);
}

static Tensor arange(const Scalar& end, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                     OptionalBool pin_memory) {
  return arange_start_step(0, end, 1, dtype, layout, device, pin_memory);
}

static Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, OptionalType dtype, OptionalLayout,
                            OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  fill_range(out, steps, [&](Tensor& dense) {
    if (steps == 1) {
      fill_impl(dense, start);
    } else {
      linspace_stub(dense.device().type(), dense, start, end);
    }
  });
  return out;
}

static Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, OptionalType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  Tensor out = empty_impl(int64_t(0), dtype, device, pin_memory);
  return linspace_out(start, end, steps, dtype, layout, device, pin_memory, out);
}

static Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base, OptionalType dtype,
                            OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  fill_range(out, steps, [&](Tensor& dense) {
    if (steps == 1) {
      fill_impl(dense, std::pow(base, start.toDouble()));
    } else {
      logspace_stub(dense.device().type(), dense, start, end, base);
    }
  });
  return out;
}

static Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, OptionalType dtype,
                       OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor out = empty_impl(int64_t(0), dtype, device, pin_memory);
  return logspace_out(start, end, steps, base, dtype, layout, device, pin_memory, out);
}

// Returns the value of a start or end that is given as a 0-dim tensor.
static Scalar number_of(const char* name, const char* which, const Tensor& end) {
  TORCH_CHECK(end.dim() == 0, name, " only supports 0-dimensional start and end tensors, but got ", which, " with ",
              end.dim(), " dimension(s).");
  return end.item();
}
static Scalar number_of(const char*, const char*, const Scalar& end) {
  return end;
}

template <typename Start, typename End>
static Tensor linspace_tensor(const Start& start, const End& end, int64_t steps, OptionalType dtype,
                              OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return linspace(number_of("linspace", "start", start), number_of("linspace", "end", end), steps, dtype, layout,
                  device, pin_memory);
}

template <typename Start, typename End>
static Tensor logspace_tensor(const Start& start, const End& end, int64_t steps, double base, OptionalType dtype,
                              OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return logspace(number_of("logspace", "start", start), number_of("logspace", "end", end), steps, base, dtype, layout,
                  device, pin_memory);
}

// arange with `end` included. Without a dtype the result is a float tensor, also for integer arguments. Deprecated, but
// programs still call range.
static Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, OptionalType dtype, OptionalLayout,
                         OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  TORCH_CHECK_NOT_IMPLEMENTED(out.scalar_type() != kBool, "\"range_cpu\" not implemented for 'Bool'");
  check_range(start, end, step);
  const bool whole = c10::isIntegralType(out.scalar_type(), /*includeBool=*/false);
  int64_t n = 0;
  if (whole) {
    TORCH_CHECK(step.toLong() != 0, "step must be nonzero");
    n = checked_count(WholeSteps(start.toLong(), end.toLong(), step.toLong()).whole);
    TORCH_CHECK(!__builtin_add_overflow(n, 1, &n), "invalid size, possible overflow?");
  } else {
    const double size = std::floor((end.toDouble() - start.toDouble()) / step.toDouble() + 1);
    TORCH_CHECK(size >= 0 && size <= 9.2e18, "invalid size, possible overflow?");
    n = static_cast<int64_t>(size);
  }
  fill_range(out, n, [&](const Tensor& dense) { arange_stub(dense.device().type(), dense, start, step); });
  return out;
}

static Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step, OptionalType dtype,
                         OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor out = empty_impl(int64_t(0), dtype, device, pin_memory);
  return range_out(start, end, step, dtype, layout, device, pin_memory, out);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("arange(Scalar end, *, " OPTIONS ") -> Tensor", TORCH_FN(arange), kernels(arange_stub), FUNCTION);
  m.def("arange.start(Scalar start, Scalar end, *, " OPTIONS ") -> Tensor", TORCH_FN(arange_start),
        kernels(arange_stub), FUNCTION);
  m.def("arange.start_step(Scalar start, Scalar end, Scalar step=1, *, " OPTIONS ") -> Tensor",
        TORCH_FN(arange_start_step), kernels(arange_stub), FUNCTION);
  m.def("linspace(Scalar start, Scalar end, int steps, *, " OPTIONS ") -> Tensor", TORCH_FN(linspace),
        kernels(fill_stub, zero_stub, linspace_stub), FUNCTION);
  m.def("logspace(Scalar start, Scalar end, int steps, float base=10, *, " OPTIONS ") -> Tensor", TORCH_FN(logspace),
        kernels(fill_stub, zero_stub, logspace_stub), FUNCTION);
  m.def("linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, " OPTIONS ") -> Tensor",
        TORCH_FN((linspace_tensor<Tensor, Tensor>)), kernels(fill_stub, zero_stub, linspace_stub), FUNCTION);
  m.def("linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, " OPTIONS ") -> Tensor",
        TORCH_FN((linspace_tensor<Tensor, Scalar>)), kernels(fill_stub, zero_stub, linspace_stub), FUNCTION);
  m.def("linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, " OPTIONS ") -> Tensor",
        TORCH_FN((linspace_tensor<Scalar, Tensor>)), kernels(fill_stub, zero_stub, linspace_stub), FUNCTION);
  m.def("logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10, *, " OPTIONS ") -> Tensor",
        TORCH_FN((logspace_tensor<Tensor, Tensor>)), kernels(fill_stub, zero_stub, logspace_stub), FUNCTION);
  m.def("logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10, *, " OPTIONS ") -> Tensor",
        TORCH_FN((logspace_tensor<Tensor, Scalar>)), kernels(fill_stub, zero_stub, logspace_stub), FUNCTION);
  m.def("logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10, *, " OPTIONS ") -> Tensor",
        TORCH_FN((logspace_tensor<Scalar, Tensor>)), kernels(fill_stub, zero_stub, logspace_stub), FUNCTION);
  m.def("range.step(Scalar start, Scalar end, Scalar step=1, *, " OPTIONS ") -> Tensor", TORCH_FN(range_step),
        kernels(arange_stub), FUNCTION);
  m.def_out("arange", TORCH_FN(arange_out), kernels(arange_stub));
  m.def_out("arange.start", TORCH_FN(arange_start_out), kernels(arange_stub));
  m.def_out("arange.start_step", TORCH_FN(arange_start_step_out), kernels(arange_stub));
  m.def_out("linspace", TORCH_FN(linspace_out), kernels(fill_stub, zero_stub, linspace_stub));
  m.def_out("logspace", TORCH_FN(logspace_out), kernels(fill_stub, zero_stub, logspace_stub));
  m.def_out("range.step", TORCH_FN(range_out), kernels(arange_stub));
}

} // namespace reftorch::at::native
