// Mirrors: nothing in PyTorch: what CUDA's <cuda_fp16.h> and <cuda_bf16.h> have in common
//
// The operators and functions of the two types of 16 bits and of their pairs, as templates that take no
// other types.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

namespace cudasim {
template <typename H>
struct is_half : std::false_type {};
template <typename H2>
struct is_half_pair : std::false_type {};
template <typename H>
using if_half = std::enable_if_t<is_half<H>::value, int>;
template <typename H2>
using if_half_pair = std::enable_if_t<is_half_pair<H2>::value, int>;
} // namespace cudasim

#define CUDA_SIM_ARITHMETIC(op, name)                   \
  template <typename H, cudasim::if_half<H> = 0>        \
  H operator op(H a, H b) {                             \
    return float(a) op float(b);                        \
  }                                                     \
  template <typename H, cudasim::if_half<H> = 0>        \
  H& operator op## = (H & a, H b) {                     \
    return a = a op b;                                  \
  }                                                     \
  template <typename H, cudasim::if_half<H> = 0>        \
  H name(H a, H b) {                                    \
    return a op b;                                      \
  }                                                     \
  template <typename H2, cudasim::if_half_pair<H2> = 0> \
  H2 operator op(H2 a, H2 b) {                          \
    return {a.x op b.x, a.y op b.y};                    \
  }                                                     \
  template <typename H2, cudasim::if_half_pair<H2> = 0> \
  H2 name##2(H2 a, H2 b) {                              \
    return a op b;                                      \
  }
CUDA_SIM_ARITHMETIC(+, __hadd)
CUDA_SIM_ARITHMETIC(-, __hsub)
CUDA_SIM_ARITHMETIC(*, __hmul)
CUDA_SIM_ARITHMETIC(/, __hdiv)
#undef CUDA_SIM_ARITHMETIC

#define CUDA_SIM_COMPARISON(op, name)            \
  template <typename H, cudasim::if_half<H> = 0> \
  bool name(H a, H b) {                          \
    return float(a) op float(b);                 \
  }
CUDA_SIM_COMPARISON(==, __heq)
CUDA_SIM_COMPARISON(!=, __hne)
CUDA_SIM_COMPARISON(<, __hlt)
CUDA_SIM_COMPARISON(<=, __hle)
CUDA_SIM_COMPARISON(>, __hgt)
CUDA_SIM_COMPARISON(>=, __hge)
#undef CUDA_SIM_COMPARISON

#define CUDA_SIM_FUNCTION(name, expression)      \
  template <typename H, cudasim::if_half<H> = 0> \
  H name(H h) {                                  \
    const float x = h;                           \
    return static_cast<float>(expression);       \
  }
CUDA_SIM_FUNCTION(__hneg, -x)
CUDA_SIM_FUNCTION(__habs, std::fabs(x))
CUDA_SIM_FUNCTION(hexp, std::exp(x))
CUDA_SIM_FUNCTION(hlog, std::log(x))
CUDA_SIM_FUNCTION(hsqrt, std::sqrt(x))
CUDA_SIM_FUNCTION(hrsqrt, 1.0f / std::sqrt(x))
CUDA_SIM_FUNCTION(hrcp, 1.0f / x)
CUDA_SIM_FUNCTION(hsin, std::sin(x))
CUDA_SIM_FUNCTION(hcos, std::cos(x))
#undef CUDA_SIM_FUNCTION

template <typename H, cudasim::if_half<H> = 0>
H __hfma(H a, H b, H c) {
  return std::fma(float(a), float(b), float(c));
}
template <typename H2, cudasim::if_half_pair<H2> = 0>
H2 __hfma2(H2 a, H2 b, H2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <typename H, cudasim::if_half<H> = 0>
H __hmax(H a, H b) {
  return std::fmax(float(a), float(b));
}
template <typename H, cudasim::if_half<H> = 0>
H __hmin(H a, H b) {
  return std::fmin(float(a), float(b));
}
template <typename H, cudasim::if_half<H> = 0>
bool __hisnan(H a) {
  return std::isnan(float(a));
}
template <typename H2, cudasim::if_half_pair<H2> = 0>
auto __low2half(H2 pair) {
  return pair.x;
}
template <typename H2, cudasim::if_half_pair<H2> = 0>
auto __high2half(H2 pair) {
  return pair.y;
}
