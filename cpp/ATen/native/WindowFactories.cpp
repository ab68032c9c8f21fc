// Mirrors: aten/src/ATen/native/TensorFactories.cpp (bartlett_window, blackman_window, hamming_window, ...)
//
// Windows for signals: weights that decrease from the middle to both ends. A periodic window leaves out the last point,
// because this is the first point of the next period. Left out: sparse layouts.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/RangeFactories.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/special/Bessel.h>

#include <cmath>

namespace reftorch::at::native {

#define OPTIONS_PARAMS OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool pin_memory
#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

// The weights are weight(x), where x (float64) goes from 0 at one end of the window to 1 at the other end.
template <typename Weight>
static Tensor make_window(const char* name, int64_t length, bool periodic, OptionalType dtype, OptionalDevice device,
                          OptionalBool pin_memory, const Weight& weight) {
  const ScalarType type = dtype_or_default(dtype);
  TORCH_CHECK(c10::isFloatingType(type), name, " expects floating point dtypes, got: ", type);
  TORCH_CHECK(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  Tensor window = empty_impl(length, kDouble, device);
  if (length <= 1) {
    fill_impl(window, 1);
    return pinned_if(pin_memory, at::to(window, type));
  }
  arange_stub(window.device().type(), window, 0, 1);
  const Tensor x = at::div(window, number(static_cast<double>(periodic ? length : length - 1)));
  return pinned_if(pin_memory, at::to(weight(x), type));
}

static Tensor bartlett_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) { // 1 - |2x - 1|
  return make_window("bartlett_window", window_length, periodic, dtype, device, pin_memory, [](const Tensor& x) {
    return at::sub(number(1), at::abs(at::sub(at::mul(x, number(2)), number(1))));
  });
}

static Tensor unary_of(const DispatchStub<unary_fn>& stub, const Tensor& x) {
  Tensor result;
  auto iter = TensorIterator::unary_op(result, x);
  stub(iter.device_type(), iter);
  return result;
}

static Tensor cosine_of(const Tensor& x, double periods) {
  return unary_of(cos_stub, at::mul(x, number(2 * M_PI * periods)));
}

static Tensor blackman_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) {
  return make_window("blackman_window", window_length, periodic, dtype, device, pin_memory, [](const Tensor& x) {
    const Tensor once = at::mul(cosine_of(x, 1), number(0.5)), twice = at::mul(cosine_of(x, 2), number(0.08));
    return at::add(at::sub(number(0.42), once), twice);
  });
}

static Tensor raised_cosine(const char* name, int64_t length, bool periodic, double alpha, double beta,
                            OptionalType dtype, OptionalDevice device, OptionalBool pin_memory) {
  return make_window(name, length, periodic, dtype, device, pin_memory,
                     [=](const Tensor& x) { return at::sub(number(alpha), at::mul(cosine_of(x, 1), number(beta))); });
}

static Tensor hann_window(int64_t window_length, bool periodic, OPTIONS_PARAMS) {
  return raised_cosine("hann_window", window_length, periodic, 0.5, 0.5, dtype, device, pin_memory);
}

static Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta, OPTIONS_PARAMS) {
  return raised_cosine("hamming_window", window_length, periodic, alpha, beta, dtype, device, pin_memory);
}

static Tensor kaiser_window(int64_t window_length, bool periodic, double beta, OPTIONS_PARAMS) {
  return make_window("kaiser_window", window_length, periodic, dtype, device, pin_memory, [=](const Tensor& x) {
    const Tensor side = at::sub(at::mul(x, number(2)), number(1));
    const Tensor height = at::maximum(at::sub(number(1), at::mul(side, side)), number(0));
    return at::div(unary_of(i0_stub, at::mul(at::sqrt(height), number(beta))), number(calc_i0(beta)));
  });
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("bartlett_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(bartlett_window),
        kernels(arange_stub, fill_stub), FUNCTION);
  m.def("blackman_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(blackman_window),
        kernels(arange_stub, fill_stub, cos_stub), FUNCTION);
  m.def("hann_window(int window_length, bool periodic=True, *, " OPTIONS ") -> Tensor", TORCH_FN(hann_window),
        kernels(arange_stub, fill_stub, cos_stub), FUNCTION);
  m.def("hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, " OPTIONS
        ") -> Tensor",
        TORCH_FN(hamming_window), kernels(arange_stub, fill_stub, cos_stub), FUNCTION);
  m.def("kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, " OPTIONS ") -> Tensor",
        TORCH_FN(kaiser_window), kernels(arange_stub, fill_stub, i0_stub), FUNCTION);
}

} // namespace reftorch::at::native
