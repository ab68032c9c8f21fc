// Mirrors: aten/src/ATen/native/TensorFactories.cpp (bartlett_window, blackman_window, hamming_window, ...)
// Windows for signals: weights that fall from the middle to both ends. `periodic`: the last point, which would be the
// first of the next period, is left out. Left out: sparse layouts.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/MathBessel.h>
#include <ATen/native/TensorFactories.h>

#include <cmath>

namespace reftorch::at::native {

#define OPTIONS_PARAMS OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool pin_memory
#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

// weight(x), with x from 0 at one end of the window to 1 at the other
template <typename Weight>
static Tensor make_window(const char* name, int64_t length, bool periodic, OptionalType dtype, OptionalDevice device,
                          OptionalBool pin_memory, const Weight& weight) {
  check_not_pinned(pin_memory);
  const ScalarType type = dtype_or_default(dtype);
  TORCH_CHECK(c10::isFloatingType(type), name, " expects floating point dtypes, got: ", type);
  TORCH_CHECK(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  const Tensor window = empty_cpu(length, kDouble, device);
  double* weights = window.data_ptr<double>();
  const auto last = static_cast<double>(periodic ? length : length - 1);
  for (int64_t i = 0; i < length; i++) {
    weights[i] = length == 1 ? 1 : weight(static_cast<double>(i) / last);
  }
  return at::to(window, type);
}

static Tensor bartlett_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) {
  return make_window("bartlett_window", window_length, periodic, dtype, device, pin_memory,
                     [](double x) { return 1 - std::fabs(2 * x - 1); });
}

static Tensor blackman_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) {
  return make_window("blackman_window", window_length, periodic, dtype, device, pin_memory,
                     [](double x) { return 0.42 - 0.5 * std::cos(2 * M_PI * x) + 0.08 * std::cos(4 * M_PI * x); });
}

static Tensor raised_cosine(const char* name, int64_t length, bool periodic, double alpha, double beta,
                            OptionalType dtype, OptionalDevice device, OptionalBool pin_memory) {
  return make_window(name, length, periodic, dtype, device, pin_memory,
                     [=](double x) { return alpha - beta * std::cos(2 * M_PI * x); });
}

static Tensor hann_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) {
  return raised_cosine("hann_window", window_length, periodic, 0.5, 0.5, dtype, device, pin_memory);
}

static Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta, OPTIONS_PARAMS) {
  return raised_cosine("hamming_window", window_length, periodic, alpha, beta, dtype, device, pin_memory);
}

static Tensor kaiser_window(int64_t window_length, bool periodic, double beta, OPTIONS_PARAMS) {
  return make_window("kaiser_window", window_length, periodic, dtype, device, pin_memory, [=](double x) {
    const double side = 2 * x - 1;
    return calc_i0(beta * std::sqrt(std::fmax(1 - side * side, 0))) / calc_i0(beta);
  });
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("bartlett_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(bartlett_window),
        FUNCTION);
  m.def("blackman_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(blackman_window),
        FUNCTION);
  m.def("hann_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(hann_window),
        FUNCTION);
  m.def("hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, " OPTIONS
        ") -> Tensor",
        TORCH_FN(hamming_window), FUNCTION);
  m.def("kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, " OPTIONS ") -> Tensor",
        TORCH_FN(kaiser_window), FUNCTION);
}

} // namespace reftorch::at::native
