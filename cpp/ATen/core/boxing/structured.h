// Mirrors: torchgen's structured kernels (torchgen/api/structured.py), which PyTorch generates as text
// An op is written once, in its out form: `void add_out(const Tensor& self, const Tensor& other, const Scalar& alpha,
// Tensor& out)`. An undefined `out` is for the op to allocate. From that one function come the functional, in-place and
// out= kernels.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

namespace reftorch::at::impl {

template <typename... Ts>
struct typelist {};

// The first N types of Tail, appended to Head.
template <size_t N, typename Head, typename Tail>
struct split;
template <typename Head, typename Tail>
struct split<0, Head, Tail> {
  using head = Head;
};
template <typename... Head, typename T, typename... Tail>
struct split<1, typelist<Head...>, typelist<T, Tail...>> {
  using head = typelist<Head..., T>;
};
template <size_t N, typename... Head, typename T, typename... Tail>
struct split<N, typelist<Head...>, typelist<T, Tail...>> : split<N - 1, typelist<Head..., T>, typelist<Tail...>> {};

template <typename... Args>
constexpr size_t count_outputs() {
  return (size_t(0) + ... + size_t(std::is_same_v<Args, Tensor&>));
}

template <auto fn, typename Inputs, size_t num_outputs>
struct structured_kernels;

template <auto fn, typename... Inputs>
struct structured_kernels<fn, typelist<Inputs...>, 1> {
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

template <auto fn, typename... Inputs>
struct structured_kernels<fn, typelist<Inputs...>, 2> {
  static std::tuple<Tensor, Tensor> functional(Inputs... inputs) {
    Tensor out0, out1;
    fn(inputs..., out0, out1);
    return {out0, out1};
  }
  static std::tuple<Tensor, Tensor> out(Inputs... inputs, Tensor& out0, Tensor& out1) {
    fn(inputs..., out0, out1);
    return {out0, out1};
  }
};

// Written to in place is the first argument; where that is no tensor there is no such form.
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
  using inputs = typename split<sizeof...(Args) - num_outputs, typelist<>, typelist<Args...>>::head;
  using kernels = structured_kernels<fn, inputs, num_outputs>;
  using inplace_kernels = structured_inplace<fn, inputs>;
  static constexpr bool has_inplace = num_outputs == 1 && inplace_kernels::value;
};

} // namespace reftorch::at::impl
