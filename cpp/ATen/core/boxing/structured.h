// Mirrors: torchgen's structured kernels (torchgen/api/structured.py), which PyTorch generates as text
//
// A structured op is written once, as a function with output parameters:
// `void add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out)`. The function allocates an
// `out` that is undefined. The functional, in-place and out= kernels are made from this one function.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

namespace reftorch::at::impl {

template <typename... Ts>
struct typelist {};

// Splits Tail: appends its first N types to Head and keeps the rest.
template <size_t N, typename Head, typename Tail>
struct split;
template <typename Head, typename Tail>
struct split<0, Head, Tail> {
  using head = Head;
  using tail = Tail;
};
template <typename... Head, typename T, typename... Tail>
struct split<1, typelist<Head...>, typelist<T, Tail...>> {
  using head = typelist<Head..., T>;
  using tail = typelist<Tail...>;
};
template <size_t N, typename... Head, typename T, typename... Tail>
struct split<N, typelist<Head...>, typelist<T, Tail...>> : split<N - 1, typelist<Head..., T>, typelist<Tail...>> {};

template <typename... Args>
constexpr size_t count_outputs() {
  return (size_t(0) + ... + size_t(std::is_same_v<Args, Tensor&>));
}

template <auto fn, typename Inputs, typename Outputs>
struct structured_kernels;

template <auto fn, typename... Inputs>
struct structured_kernels<fn, typelist<Inputs...>, typelist<Tensor&>> {
  static Tensor functional(Inputs... inputs) {
    Tensor out;
    fn(inputs..., out);
    return out;
  }
  static Tensor& out(Inputs... inputs, Tensor& out) {
    fn(inputs..., out);
    return out;
  }
};

// The kernels of an op with several outputs, each of which has the type Tensor&.
template <auto fn, typename... Inputs, typename... Outputs>
struct structured_kernels<fn, typelist<Inputs...>, typelist<Outputs...>> {
  using Results = std::tuple<std::decay_t<Outputs>...>;
  static Results functional(Inputs... inputs) {
    Results results;
    std::apply([&](Outputs... outs) { fn(inputs..., outs...); }, results);
    return results;
  }
  static Results out(Inputs... inputs, Outputs... outs) {
    fn(inputs..., outs...);
    return {outs...};
  }
};

// The in-place kernel writes to the first argument. If the first argument is not a tensor, there is no in-place kernel.
template <auto fn, typename Inputs>
struct structured_inplace : std::false_type {};
template <auto fn, typename... Rest>
struct structured_inplace<fn, typelist<const Tensor&, Rest...>> : std::true_type {
  static Tensor& inplace(Tensor& self, Rest... rest) {
    Tensor out = self;
    fn(self, rest..., out);
    return self;
  }
};

template <auto fn, typename Sig>
struct structured;
template <auto fn, typename... Args>
struct structured<fn, void (*)(Args...)> {
  static constexpr size_t num_outputs = count_outputs<Args...>();
  using arguments = split<sizeof...(Args) - num_outputs, typelist<>, typelist<Args...>>;
  using inputs = typename arguments::head;
  using kernels = structured_kernels<fn, inputs, typename arguments::tail>;
  using inplace_kernels = structured_inplace<fn, inputs>;
  static constexpr bool has_inplace = num_outputs == 1 && inplace_kernels::value;
};

// The out= kernel of a composite op: computes the result and copies it to `out`. The dtype of `out` must be that of the
// result (Same), or one to which the result can be cast (Castable).
enum class OutDtype { Same, Castable };
TORCH_API void copy_to_out(const Tensor& result, Tensor& out, OutDtype dtype = OutDtype::Same);

template <auto fn, OutDtype dtype, typename Sig>
struct composite_out;
template <auto fn, OutDtype dtype, typename... Inputs>
struct composite_out<fn, dtype, Tensor (*)(Inputs...)> {
  static Tensor& out(Inputs... inputs, Tensor& out) {
    copy_to_out(fn(inputs...), out, dtype);
    return out;
  }
};
template <auto fn, OutDtype dtype, typename... Results, typename... Inputs>
struct composite_out<fn, dtype, std::tuple<Results...> (*)(Inputs...)> {
  static std::tuple<Results...> out(Inputs... inputs, Results&... outs) {
    const std::tuple<Results...> results = fn(inputs...);
    std::apply([&](const Results&... result) { (copy_to_out(result, outs, dtype), ...); }, results);
    return {outs...};
  }
};

} // namespace reftorch::at::impl
