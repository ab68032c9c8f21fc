// Mirrors: aten/src/ATen/native/cpu/Loops.h
//
// cpu_kernel(iter, op) applies `op` to every element: `op` maps one element of each input to one element of the output,
// and this file makes the loops around it. cpu_kernel<scalar_t>(iter, op) is for elements of type scalar_t; `op` then
// computes in opmath_type<scalar_t>, which is float for the 16-bit floats.
// cpu_elementwise<Functor>(iter, name, ...) chooses scalar_t by the dtype and runs an element function that both
// devices share (native/*Functors.h). Left out: hand-written vector types (Vectorized<T>). The compiler vectorizes the
// flat loop, once per instruction set.
//
// The ladder, slowest and plainest rung first:
//   basic_loop      any strides, one element at a time. Also used for a few long columns, instead of many short rows.
//   blocked_loop    copies strided operands, block by block, into dense buffers, runs the flat loop on the buffers, and
//                   copies the result back. 16-bit floats take this rung even where they are dense, because the buffers
//                   hold floats: the compiler does not use the processor's conversion instructions by itself.
//   blocked_rows    the same for rows that are short and lie one after the other in the output: as many rows as fill a
//                   buffer are processed at once.
//   vectorized_loop all operands are dense: a flat loop that the compiler turns into vector instructions.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/detail/FunctionTraits.h>
#include <ATen/native/cpu/VectorConvert.h>
#include <c10/util/Load.h>

#include <algorithm>
#include <tuple>

// A function with this mark is compiled for AVX-512, for AVX2 and for the baseline; the dynamic linker picks one
// version when the library is loaded. `flatten` inlines all that the function calls, however large the code grows,
// because a loop that contains a call cannot become vector instructions. The Debug build compiles one version, to step
// through.
#if defined(REFTORCH_MULTI_ISA) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define TARGET_CLONES __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TARGET_CLONES
#endif

namespace reftorch::at::native {

// The type of the elements that the flat loop works on.
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
        op(c10::load<stored_type<scalar_t, arg_type<traits, I>>>(data[I + 1] + i * strides[I + 1])...);
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
    out[i] = op(c10::load(a + i));
  }
}
template <typename R, typename A, typename B, typename F>
TARGET_CLONES static void vectorized_loop(R* out, const A* a, const B* b, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op(c10::load(a + i), c10::load(b + i));
  }
}
template <typename R, typename A, typename B, typename C, typename F>
TARGET_CLONES static void vectorized_loop(R* out, const A* a, const B* b, const C* c, int64_t n, F op) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = op(c10::load(a + i), c10::load(b + i), c10::load(c + i));
  }
}

constexpr int64_t kBlockWidth = 512;
constexpr int64_t kShortRow = 16; // a row of so few elements is not worth a buffer

// Stores `number` n times, in stores as wide as the loads of the flat loop: a wide load has to wait for narrow stores.
template <typename T>
TARGET_CLONES static void fill_block(T* values, T number, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    values[i] = number;
  }
}

// Reads `count` numbers that lie `step` bytes apart, and stores each of them n times.
template <typename T>
TARGET_CLONES static void repeat_each(T* values, const char* numbers, int64_t step, int64_t count, int64_t n) {
  for (int64_t r = 0; r < count; r++) {
    const T number = c10::load<T>(numbers + r * step);
    for (int64_t i = 0; i < n; i++) {
      values[r * n + i] = number;
    }
  }
}

// Gives the elements of one operand as dense memory, one block at a time.
template <typename scalar_t, typename T>
struct BlockBuffer {
  using stored = stored_type<scalar_t, T>;
  using flat = flat_type<scalar_t, T>;
  alignas(64) flat values[kBlockWidth];
  BlockBuffer() {} // not `= default`: a tuple would then fill it with zeros

  // Returns `width` elements from `begin` on. Where the elements lie dense, this is their own place in memory;
  // otherwise it is a copy. The copy of an operand whose stride is 0 serves every block.
  const flat* block(const char* data, int64_t stride, int64_t begin, int64_t width) {
    const char* first = data + begin * stride;
    if (is_flat<scalar_t, T> && stride == int64_t(sizeof(stored))) {
      return reinterpret_cast<const flat*>(first);
    }
    if (stride == 0) {
      if (begin == 0) {
        fill_block(values, flat(c10::load<stored>(data)), width);
      }
    } else if constexpr (is_flat<scalar_t, T>) {
      for (int64_t i = 0; i < width; i++) {
        values[i] = c10::load<flat>(first + i * stride);
      }
    } else {
      convert(reinterpret_cast<const stored*>(first), stride, values, width);
    }
    return values;
  }

  // Returns `count` rows from row `first` on. Each row has size0 elements, which lie dense or are one element repeated.
  // Where all rows are one row repeated, one copy serves every block. Only for operands that need no conversion.
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

// Does for the result what BlockBuffer does for an operand: the flat loop writes to block(), and store() copies the
// block to its place in the output.
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

// Whether blocked_rows can process a piece, and is worth its copies: a row is too short for a buffer of its own, or
// some operand is broadcast.
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

// Processes one row: chooses the rung.
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

// Applies `op` to every element. The parameter types of `op` must be the dtypes of the inputs, and its result type the
// dtype of the output; where they are opmath_type<scalar_t>, the dtype is that of scalar_t.
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

// Runs Functor<scalar_t>(params...) on every element, for the dtypes that the functor names.
template <template <typename> class Functor, typename... Params>
void cpu_elementwise(TensorIterator& iter, const char* name, const Params&... params) {
  dispatch<typename Functor<float>::dtypes>(element_dtype<Functor>(iter), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    cpu_kernel<scalar_t>(iter, Functor<scalar_t>(params...));
  });
}

} // namespace reftorch::at::native

// The row of the CPU for an op that is one element function: defines the function `kernel` and registers it at `stub`.
// An error about the dtype says `name`, as PyTorch's does.
#define REGISTER_CPU_ELEMENTWISE(stub, kernel, Functor, name) \
  REGISTER_DEVICE_ELEMENTWISE(stub, CPU, kernel, cpu_elementwise<Functor>, name)
