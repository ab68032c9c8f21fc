// Mirrors: aten/src/ATen/native/cpu/Loops.h
// cpu_kernel(iter, op): `op` maps one element of each input to one of the output; this file makes the loops around it.
// cpu_kernel<scalar_t>(iter, op): the elements are scalar_t, and `op` computes in opmath_type<scalar_t>: in float where
// they are 16-bit floats.
// Left out: hand-written vector types (Vectorized<T>): the compiler vectorizes the flat loop, once per instruction set.
//
// The ladder, slowest and plainest first:
//   basic_loop      any strides, one element at a time. A few long columns are walked so, instead of many short rows.
//   blocked_loop    what is not dense comes through small buffers to the flat loop, and goes. So do halves, to be made
//                   floats: the compiler does not find the processor's instructions for that.
//   blocked_rows    the same for short rows, one after the other in the output: as many at once as fill a buffer.
//   vectorized_loop all dense: a flat loop the compiler turns into vector instructions.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/detail/FunctionTraits.h>
#include <ATen/native/cpu/VectorConvert.h>

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

// What of a stored element the flat loop is given.
template <typename scalar_t, typename T>
using flat_type = std::conditional_t<std::is_same_v<scalar_t, c10::Half>, T, stored_type<scalar_t, T>>;
template <typename scalar_t, typename T>
constexpr bool is_flat = std::is_same_v<stored_type<scalar_t, T>, flat_type<scalar_t, T>>;
template <typename scalar_t, typename F, size_t... I>
constexpr bool all_flat(std::index_sequence<I...>) {
  using traits = function_traits<F>;
  return is_flat<scalar_t, typename traits::result_type> && (true && ... && is_flat<scalar_t, arg_type<traits, I>>);
}

template <typename scalar_t, typename F, size_t... I>
inline void basic_loop(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...>) {
  using traits = function_traits<F>;
  using stored_result = stored_type<scalar_t, typename traits::result_type>;
  for (int64_t i = 0; i < n; i++) {
    *reinterpret_cast<stored_result*>(data[0] + i * strides[0]) =
        op(*reinterpret_cast<const stored_type<scalar_t, arg_type<traits, I>>*>(data[I + 1] + i * strides[I + 1])...);
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

constexpr int64_t kBlockWidth = 512;
constexpr int64_t kShortRow = 16; // not worth a buffer

// Stored as widely as the flat loop will load: narrow stores would keep a wide load waiting.
template <typename T>
TARGET_CLONES static void fill_block(T* values, T number, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    values[i] = number;
  }
}

// `count` numbers, `step` bytes apart, each n times.
template <typename T>
TARGET_CLONES static void repeat_each(T* values, const char* numbers, int64_t step, int64_t count, int64_t n) {
  for (int64_t r = 0; r < count; r++) {
    const T number = *reinterpret_cast<const T*>(numbers + r * step);
    for (int64_t i = 0; i < n; i++) {
      values[r * n + i] = number;
    }
  }
}

// An operand's elements as dense memory, a block at a time.
template <typename scalar_t, typename T>
struct BlockBuffer {
  using stored = stored_type<scalar_t, T>;
  using flat = flat_type<scalar_t, T>;
  alignas(64) flat values[kBlockWidth];
  BlockBuffer() {} // not `= default`: a tuple would then fill it with zeros

  // Elements from `begin` on: where they lie, if they lie dense; else a copy, which serves every block where the
  // operand stands still.
  const flat* block(const char* data, int64_t stride, int64_t begin, int64_t width) {
    const char* first = data + begin * stride;
    if (is_flat<scalar_t, T> && stride == int64_t(sizeof(stored))) {
      return reinterpret_cast<const flat*>(first);
    }
    if (stride == 0) {
      if (begin == 0) {
        fill_block(values, flat(*reinterpret_cast<const stored*>(data)), width);
      }
    } else if constexpr (is_flat<scalar_t, T>) {
      for (int64_t i = 0; i < width; i++) {
        values[i] = *reinterpret_cast<const flat*>(first + i * stride);
      }
    } else {
      convert(reinterpret_cast<const stored*>(first), stride, values, width);
    }
    return values;
  }

  // The same of `count` rows from `first` on, each of size0 elements that lie dense or are one. Where all rows are one,
  // its copies serve every block. For those alone that the flat loop is given as they lie.
  const flat* rows(const char* data, int64_t stride0, int64_t stride1, int64_t size0, int64_t first, int64_t count) {
    const int64_t itemsize = sizeof(stored);
    if (stride0 == itemsize && stride1 == size0 * itemsize) {
      return reinterpret_cast<const flat*>(data) + first * size0;
    }
    if (stride1 == 0 && first != 0) {
      return values;
    }
    if (stride0 == 0) {
      repeat_each(values, data + first * stride1, stride1, count, size0);
      return values;
    }
    for (int64_t r = 0; r < count; r++) {
      std::copy_n(reinterpret_cast<const flat*>(data + (first + r) * stride1), size0, values + r * size0);
    }
    return values;
  }
};

// The same for the result: the flat loop writes to block(), which store() brings to where it belongs.
template <typename scalar_t, typename T>
struct ResultBuffer {
  using stored = stored_type<scalar_t, T>;
  using flat = flat_type<scalar_t, T>;
  alignas(64) flat values[kBlockWidth];

  flat* block(char* data, int64_t stride, int64_t begin) {
    return is_flat<scalar_t, T> && stride == int64_t(sizeof(stored)) ? reinterpret_cast<flat*>(data) + begin : values;
  }
  void store(char* data, int64_t stride, int64_t begin, int64_t width) const {
    char* first = data + begin * stride;
    if constexpr (!is_flat<scalar_t, T>) {
      convert(values, reinterpret_cast<stored*>(first), stride, width);
    } else if (stride != int64_t(sizeof(stored))) {
      for (int64_t i = 0; i < width; i++) {
        *reinterpret_cast<stored*>(first + i * stride) = values[i];
      }
    }
  }
};

template <typename scalar_t, typename F, size_t... I>
inline void blocked_loop(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...>) {
  using traits = function_traits<F>;
  ResultBuffer<scalar_t, typename traits::result_type> result;
  std::tuple<BlockBuffer<scalar_t, arg_type<traits, I>>...> buffers;
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    vectorized_loop(result.block(data[0], strides[0], begin),
                    std::get<I>(buffers).block(data[I + 1], strides[I + 1], begin, width)..., width, op);
    result.store(data[0], strides[0], begin, width);
  }
}

// Whether blocked_rows is right for a piece, and worth its copies: a row is too short for a buffer of its own, or some
// operand is broadcast.
template <typename scalar_t, typename F, size_t... I>
inline bool fits_blocked_rows(const int64_t* strides, int64_t size0, int64_t size1, std::index_sequence<I...>) {
  using traits = function_traits<F>;
  const int64_t* steps = strides + sizeof...(I) + 1;
  const int64_t itemsize = sizeof(stored_type<scalar_t, typename traits::result_type>);
  if (size1 == 1 || size0 > kBlockWidth / 2 || strides[0] != itemsize || steps[0] != size0 * itemsize) {
    return false;
  }
  return (true && ... &&
          (strides[I + 1] == int64_t(sizeof(stored_type<scalar_t, arg_type<traits, I>>)) || strides[I + 1] == 0)) &&
         (size0 < kShortRow || (false || ... || (strides[I + 1] == 0 || steps[I + 1] == 0)));
}

template <typename scalar_t, typename F, size_t... I>
inline void blocked_rows(char* const* data, const int64_t* strides, int64_t size0, int64_t size1, const F& op,
                         std::index_sequence<I...>) {
  using traits = function_traits<F>;
  const int64_t* steps = strides + sizeof...(I) + 1;
  std::tuple<BlockBuffer<scalar_t, arg_type<traits, I>>...> buffers;
  const int64_t rows = kBlockWidth / size0;
  for (int64_t first = 0; first < size1; first += rows) {
    const int64_t count = std::min(rows, size1 - first);
    vectorized_loop(reinterpret_cast<stored_type<scalar_t, typename traits::result_type>*>(data[0]) + first * size0,
                    std::get<I>(buffers).rows(data[I + 1], strides[I + 1], steps[I + 1], size0, first, count)...,
                    count * size0, op);
  }
}

// One row: picks the rung.
template <typename scalar_t, typename F, size_t... I>
inline void loop_1d(char* const* data, const int64_t* strides, int64_t n, const F& op, std::index_sequence<I...> seq) {
  using traits = function_traits<F>;
  using R = typename traits::result_type;
  if constexpr (all_flat<scalar_t, F>(seq)) {
    if (strides[0] == int64_t(sizeof(stored_type<scalar_t, R>)) &&
        (true && ... && (strides[I + 1] == int64_t(sizeof(stored_type<scalar_t, arg_type<traits, I>>))))) {
      vectorized_loop(reinterpret_cast<stored_type<scalar_t, R>*>(data[0]),
                      reinterpret_cast<const stored_type<scalar_t, arg_type<traits, I>>*>(data[I + 1])..., n, op);
      return;
    }
  }
  if (n >= kShortRow) {
    blocked_loop<scalar_t>(data, strides, n, op, seq);
  } else {
    basic_loop<scalar_t>(data, strides, n, op, seq);
  }
}

// Applies `op` to every element. Its parameter types must be the dtypes of the inputs, its result type that of the
// output, where they are not opmath_type<scalar_t>: then the dtype is scalar_t's.
template <typename scalar_t = void, typename F>
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
        basic_loop<scalar_t>(row, strides + ntensors, size1, op, seq);
      }
      return;
    }
    if constexpr (all_flat<scalar_t, F>(std::make_index_sequence<traits::arity>())) {
      if (fits_blocked_rows<scalar_t, F>(strides, size0, size1, seq)) {
        blocked_rows<scalar_t>(data, strides, size0, size1, op, seq);
        return;
      }
    }
    for (int64_t j = 0; j < size1; j++) {
      for (int k = 0; k < ntensors; k++) {
        row[k] = data[k] + j * strides[ntensors + k];
      }
      loop_1d<scalar_t>(row, strides, size0, op, seq);
    }
  });
}

} // namespace reftorch::at::native
