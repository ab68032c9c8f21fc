// Mirrors: aten/src/ATen/native/cpu/Loops.h
// cpu_kernel(iter, op): `op` maps one element of each input to one of the output; this file makes the loops around it.
// Left out: hand-written vector types (Vectorized<T>): the compiler vectorizes the flat loop, once per instruction set.
//
// The ladder, slowest and plainest first:
//   basic_loop      any strides, one element at a time. A few long columns are walked so, instead of many short rows.
//   blocked_loop    a dense output: inputs that are not dense come through small buffers to the flat loop.
//   vectorized_loop all dense: a flat loop the compiler turns into vector instructions.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>

#include <algorithm>
#include <tuple>

// One function, compiled for AVX-512, AVX2 and the baseline; the dynamic linker picks one when the library is loaded.
// `flatten`: all that it calls is inlined, however large the file grows; a loop with a call in it is no vector loop.
// Not in Debug, where there is one copy to step through.
#if defined(REFTORCH_MULTI_ISA) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define TARGET_CLONES __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
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

constexpr int64_t kBlockWidth = 256;

// An operand's elements as dense memory, a block at a time.
template <typename T>
struct BlockBuffer {
  T values[kBlockWidth];
  BlockBuffer() {} // not `= default`: a tuple would then fill it with zeros

  // Elements from `begin` on: where they lie, if they lie dense; else a copy, which serves every block where the
  // operand stands still.
  const T* block(const char* data, int64_t stride, int64_t begin, int64_t width) {
    if (stride == int64_t(sizeof(T))) {
      return reinterpret_cast<const T*>(data) + begin;
    }
    if (stride != 0) {
      for (int64_t i = 0; i < width; i++) {
        values[i] = *reinterpret_cast<const T*>(data + (begin + i) * stride);
      }
    } else if (begin == 0) {
      std::fill_n(values, width, *reinterpret_cast<const T*>(data));
    }
    return values;
  }
};

template <typename F, size_t... I>
inline void blocked_loop(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...>) {
  using traits = function_traits<F>;
  std::tuple<BlockBuffer<arg_type<traits, I>>...> buffers;
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    vectorized_loop(reinterpret_cast<typename traits::result_type*>(data[0]) + begin,
                    std::get<I>(buffers).block(data[I + 1], strides[I + 1], begin, width)..., width, op);
  }
}

// One row: picks the rung.
template <typename F, size_t... I>
inline void loop_1d(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...> seq) {
  using traits = function_traits<F>;
  using R = typename traits::result_type;
  constexpr int64_t kShortRow = 16; // not worth a buffer
  const bool dense_output = strides[0] == int64_t(sizeof(R));
  // Gathering one operand is cheaper than an exponential without vector instructions; two cost more than their sum.
  const bool gathers = traits::arity == 1;
  if (dense_output && (true && ... && (strides[I + 1] == int64_t(sizeof(arg_type<traits, I>))))) {
    vectorized_loop(reinterpret_cast<R*>(data[0]), reinterpret_cast<const arg_type<traits, I>*>(data[I + 1])..., n, op);
  } else if (dense_output && n >= kShortRow &&
             (gathers ||
              (true && ... && (strides[I + 1] == int64_t(sizeof(arg_type<traits, I>)) || strides[I + 1] == 0)))) {
    blocked_loop(data, strides, n, op, seq);
  } else {
    basic_loop(data, strides, n, op, seq);
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
  constexpr int64_t kFew = 4;
  const auto seq = std::make_index_sequence<traits::arity>();
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    char* row[ntensors];
    if (size0 <= kFew && size1 > size0) {
      for (int64_t i = 0; i < size0; i++) {
        for (int k = 0; k < ntensors; k++) {
          row[k] = data[k] + i * strides[k];
        }
        basic_loop(row, strides + ntensors, size1, op, seq);
      }
      return;
    }
    for (int64_t j = 0; j < size1; j++) {
      for (int k = 0; k < ntensors; k++) {
        row[k] = data[k] + j * strides[ntensors + k];
      }
      loop_1d(row, strides, size0, op, seq);
    }
  });
}

} // namespace reftorch::at::native
