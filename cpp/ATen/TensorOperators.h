// Mirrors: aten/src/ATen/TensorOperators.h
//
// The operators of Tensor, for the sources of extensions: (1 - x) * x. Each calls the op of its name.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/ExtensionFunctions.h>

namespace reftorch::at {

// clang-format off: the layout of these tables would change from version to version
#define AT_FORALL_BINARY_OPERATORS(_) \
  _(+, add)                           \
  _(-, sub)                           \
  _(*, mul)                           \
  _(/, div)                           \
  _(%, remainder)                     \
  _(&, bitwise_and)                   \
  _(|, bitwise_or)                    \
  _(^, bitwise_xor)                   \
  _(<, lt)                            \
  _(<=, le)                           \
  _(>, gt)                            \
  _(>=, ge)                           \
  _(==, eq)                           \
  _(!=, ne)
#define AT_FORALL_INPLACE_OPERATORS(_) \
  _(+=, add_)                          \
  _(-=, sub_)                          \
  _(*=, mul_)                          \
  _(/=, div_)                          \
  _(&=, bitwise_and_)                  \
  _(|=, bitwise_or_)                   \
  _(^=, bitwise_xor_)
// clang-format on

// A number on the left becomes a tensor with the low priority of a number in type promotion.
#define DEFINE_OPERATOR(symbol, op)                                 \
  inline Tensor operator symbol(const Tensor& x, const Tensor& y) { \
    return at::op(x, y);                                            \
  }                                                                 \
  inline Tensor operator symbol(const Tensor& x, const Scalar& y) { \
    return at::op(x, y);                                            \
  }                                                                 \
  inline Tensor operator symbol(const Scalar& x, const Tensor& y) { \
    return at::op(detail::wrapped_scalar_tensor(x), y);             \
  }
AT_FORALL_BINARY_OPERATORS(DEFINE_OPERATOR)
#undef DEFINE_OPERATOR

#define DEFINE_OPERATOR(symbol, op)                            \
  inline Tensor& operator symbol(Tensor& x, const Tensor& y) { \
    return at::op(x, y);                                       \
  }                                                            \
  inline Tensor& operator symbol(Tensor& x, const Scalar& y) { \
    return at::op(x, y);                                       \
  }
AT_FORALL_INPLACE_OPERATORS(DEFINE_OPERATOR)
#undef DEFINE_OPERATOR

inline Tensor Tensor::operator[](int64_t index) const {
  return at::select(*this, 0, index);
}
inline Tensor operator-(const Tensor& x) {
  return at::neg(x);
}
inline Tensor operator~(const Tensor& x) {
  return at::bitwise_not(x);
}
inline Tensor operator!(const Tensor& x) {
  return at::logical_not(x);
}

} // namespace reftorch::at
