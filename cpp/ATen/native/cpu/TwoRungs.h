// Mirrors: aten/src/ATen/native/cpu/Loops.h (cpu_kernel_vec: a scalar function and a vectorized one)
//
// For functions whose fast rung is right only for the usual arguments; a sine without a branch, for example, is right
// for all but huge angles. The elements are processed in blocks, and a block that contains an unusual element takes the
// exact rung.
#pragma once

#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

template <typename Fits, typename... Args>
TARGET_CLONES static bool all_fit(int64_t n, Fits fits, const Args*... args) {
  int32_t unfit = 0;
  for (int64_t i = 0; i < n; i++) {
    unfit |= !fits(args[i]...);
  }
  return unfit == 0;
}

template <typename scalar_t, typename Fits, typename Fast, typename Exact, size_t... I>
void two_rungs_loop(char* const* data, const int64_t* strides, int64_t n, const Fits& fits, const Fast& fast,
                    const Exact& exact, std::index_sequence<I...>) {
  using traits = function_traits<Fast>;
  ResultBuffer<scalar_t, typename traits::result_type> result;
  std::tuple<BlockBuffer<scalar_t, arg_type<traits, I>>...> buffers;
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    auto* out = result.block(data[0], strides[0], begin);
    const std::tuple<const flat_type<scalar_t, arg_type<traits, I>>*...> args{
        std::get<I>(buffers).block(data[I + 1], strides[I + 1], begin, width)...};
    if (all_fit(width, fits, std::get<I>(args)...)) {
      vectorized_loop(out, std::get<I>(args)..., width, fast);
    } else {
      vectorized_loop(out, std::get<I>(args)..., width, exact);
    }
    result.store(data[0], strides[0], begin, width);
  }
}

// Applies `fast` to the elements of each block for which `fits` is true, and `exact` to the elements of the other
// blocks. scalar_t is as for cpu_kernel.
template <typename scalar_t = void, typename Fits, typename Fast, typename Exact>
void two_rungs_kernel(TensorIterator& iter, const Fits& fits, const Fast& fast, const Exact& exact) {
  constexpr int ntensors = function_traits<Fast>::arity + 1;
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    char* row[ntensors];
    for (int64_t j = 0; j < size1; j++) {
      for (int k = 0; k < ntensors; k++) {
        row[k] = data[k] + j * strides[ntensors + k];
      }
      two_rungs_loop<scalar_t>(row, strides, size0, fits, fast, exact, std::make_index_sequence<ntensors - 1>());
    }
  });
}

} // namespace reftorch::at::native
