// Mirrors: nothing in PyTorch: there each such function has the element type as a template parameter
//
// An element function that is computed in double for every element type.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/macros/Macros.h>

#include <type_traits>

namespace reftorch::at::native {

// InDouble<scalar_t, Types, f> applies f, a function of one or several numbers, to elements of type scalar_t; `Types`
// are the element types that the op accepts.
template <typename scalar_t, typename Types, auto f>
struct InDouble;

template <typename scalar_t, typename Types, typename... Doubles, double (*f)(Doubles...)>
struct InDouble<scalar_t, Types, f> {
  using dtypes = Types;
  using opmath_t = opmath_type<scalar_t>;
  template <typename>
  using argument = opmath_t;
  C10_HOST_DEVICE opmath_t operator()(argument<Doubles>... args) const {
    return static_cast<opmath_t>(f(args...));
  }
};

} // namespace reftorch::at::native
