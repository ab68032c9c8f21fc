// Mirrors: aten/src/ATen/native/cpu/Loops.h
// cpu_kernel(iter, op): `op` maps one element of each input to one of the output; this file makes the loops around it.
// Left out: hand-written vector types (Vectorized<T>): the compiler vectorizes the flat loop, once per instruction set.
//
// The ladder, slowest and plainest first:
//   basic_loop      any strides, one element at a time.
//   vectorized_loop operands dense, or standing still: a flat loop the compiler turns into vector instructions.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>

#include <algorithm>
#include <array>
#include <tuple>

// One function, compiled for AVX-512, AVX2 and the baseline; the dynamic linker picks one when the library is loaded.
// Not in Debug, where there is one copy to step through.
#if defined(REFTORCH_MULTI_ISA) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TARGET_CLONES
#endif

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

template <typename F, size_t... I>
inline void basic_loop(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...>) {
  using traits = function_traits<F>;
  using R = typename traits::result_type;
  for (int64_t i = 0; i < n; i++) {
    *reinterpret_cast<R*>(data[0] + i * strides[0]) =
        op(*reinterpret_cast<const arg_type<traits, I>*>(data[I + 1] + i * strides[I + 1])...);
  }
}

template <typename R, typename F>
TARGET_CLONES static void vectorized_loop(R* out, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op();
  }
}
template <typename R, typename A, typename F>
TARGET_CLONES static void vectorized_loop(R* out, const A* a, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op(a[i]);
  }
}
template <typename R, typename A, typename B, typename F>
TARGET_CLONES static void vectorized_loop(R* out, const A* a, const B* b, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op(a[i], b[i]);
  }
}
template <typename R, typename A, typename B, typename C, typename F>
TARGET_CLONES static void vectorized_loop(R* out, const A* a, const B* b, const C* c, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op(a[i], b[i], c[i]);
  }
}

constexpr int64_t kSpread = 256;

// Fills the buffer with an operand that stands still; a dense one has no use for it.
template <typename T>
inline void spread(T* buffer, const char* data, int64_t stride, int64_t width) {
  if (stride == 0) {
    std::fill_n(buffer, width, *reinterpret_cast<const T*>(data));
  }
}

// One row: picks the rung. An operand that stands still (a number, a broadcast column) is spread over a small buffer
// first, so that the flat loop serves it too.
template <typename F, size_t... I>
inline void loop_1d(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...> seq) {
  using traits = function_traits<F>;
  using R = typename traits::result_type;
  const bool flat = strides[0] == int64_t(sizeof(R)) &&
                    (true && ... && (strides[I + 1] == int64_t(sizeof(arg_type<traits, I>)) || strides[I + 1] == 0));
  if (!flat) {
    basic_loop(data, strides, n, op, seq);
    return;
  }
  if ((true && ... && (strides[I + 1] != 0))) {
    vectorized_loop(reinterpret_cast<R*>(data[0]), reinterpret_cast<const arg_type<traits, I>*>(data[I + 1])..., n, op);
    return;
  }
  std::tuple<std::array<arg_type<traits, I>, kSpread>...> buffers;
  (spread(std::get<I>(buffers).data(), data[I + 1], strides[I + 1], std::min(n, kSpread)), ...);
  for (int64_t begin = 0; begin < n; begin += kSpread) {
    vectorized_loop(reinterpret_cast<R*>(data[0]) + begin,
                    (strides[I + 1] == 0 ? std::get<I>(buffers).data()
                                         : reinterpret_cast<const arg_type<traits, I>*>(data[I + 1]) + begin)...,
                    std::min(kSpread, n - begin), op);
  }
}

// Applies `op` to every element. Its parameter types must be the dtypes of the inputs, its result type that of the
// output.
template <typename F>
void cpu_kernel(TensorIterator& iter, const F& op) {
  using traits = function_traits<F>;
  constexpr int ntensors = traits::arity + 1;
  TORCH_INTERNAL_ASSERT(iter.ntensors() == ntensors, "cpu_kernel: the op takes ", traits::arity,
                        " inputs, the iterator has ", iter.ninputs());
  const auto seq = std::make_index_sequence<traits::arity>();
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    char* row[ntensors];
    for (int64_t j = 0; j < size1; j++) {
      for (int k = 0; k < ntensors; k++) {
        row[k] = data[k] + j * strides[ntensors + k];
      }
      loop_1d(row, strides, size0, op, seq);
    }
  });
}

} // namespace reftorch::at::native
