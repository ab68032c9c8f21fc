// Mirrors: aten/src/ATen/detail/FunctionTraits.h, c10/util/Metaprogramming.h
//
// The parameter types and the result type of a function object that cpu_kernel or gpu_kernel runs.
#pragma once

#include <ATen/Dispatch.h>

#include <tuple>
#include <type_traits>

namespace reftorch::at::native {

template <typename F>
struct function_traits : function_traits<decltype(&F::operator())> {};
template <typename C, typename R, typename... Args>
struct function_traits<R (C::*)(Args...) const> {
  using result_type = R;
  using args = std::tuple<std::decay_t<Args>...>;
  static constexpr int arity = sizeof...(Args);
};

template <typename Traits, int i>
using arg_type = std::tuple_element_t<i, typename Traits::args>;

// The type in memory of a parameter or result of type T: a function over 16-bit floats computes in float.
template <typename scalar_t, typename T>
using stored_type = std::conditional_t<std::is_same_v<T, opmath_type<scalar_t>>, scalar_t, T>;

// The dtype by which an element function is chosen: that of the result, or that of the operands where the function
// answers a question with a bool.
template <template <typename> class Functor, typename Iterator>
c10::ScalarType element_dtype(const Iterator& iter) {
  if constexpr (std::is_same_v<typename function_traits<Functor<float>>::result_type, bool>) {
    return iter.input_dtype();
  } else {
    return iter.dtype();
  }
}

} // namespace reftorch::at::native
