// Mirrors: aten/src/ATen/native/cpu/AvgPoolKernel.cpp, aten/src/ATen/native/cpu/AdaptiveAvgPoolKernel.cpp
//
// Each kernel runs over planes of pixels, and the threads share the planes. The first rung goes window by window, the
// second one tap by tap (PoolRows.h). Left out: loops of their own for tensors whose channels lie last in memory.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/PoolRows.h>
#include <ATen/native/cpu/Scratch.h>

namespace reftorch::at::native {
namespace {

// Calls f(o, divisor, depths, rows, columns) for each element o of the output of one plane.
template <typename F>
void for_each_window(const PoolWindows& windows, std::optional<int64_t> divisor, const F& f) {
  int64_t o = 0;
  for (const PoolWindow& depths : windows[0]) {
    for (const PoolWindow& rows : windows[1]) {
      for (const PoolWindow& columns : windows[2]) {
        f(o++, divisor.value_or(depths.count * rows.count * columns.count), depths, rows, columns);
      }
    }
  }
}

// Calls `body` with the element type. Of the integers, only int64_t is averaged, and only by windows of a given size.
template <typename Body>
void dispatch_average(c10::ScalarType dtype, bool adaptive, const char* name, const Body& body) {
  if (adaptive) {
    dispatch<FloatingTypesAndReduced>(dtype, name, body);
  } else {
    dispatch<FloatingTypesAndReduced::And<int64_t>>(dtype, name, body);
  }
}

// --- tap by tap ------------------------------------------------------------------------------------------------------

// Adds to each window its element.
template <typename T>
TARGET_CLONES static void add_taps(T* __restrict y, const T* __restrict x, const WindowGrid& grid) {
  const int64_t n = grid.n;
  for (int64_t r = 0; r < grid.rows; r++, y += grid.out_jump, x += grid.in_jump) {
    if (grid.pairs) {
      for (int64_t i = 0; i < n; i++) {
        y[i] = (y[i] + x[2 * i]) + x[2 * i + 1];
      }
    } else {
      for (int64_t i = 0; i < n; i++) {
        y[i] += x[i * grid.in_step];
      }
    }
  }
}

// Adds to each element the share of its window.
template <typename T>
TARGET_CLONES static void spread_shares(T* __restrict x, const T* __restrict shares, const WindowGrid& grid) {
  const int64_t n = grid.n;
  for (int64_t r = 0; r < grid.rows; r++, shares += grid.out_jump, x += grid.in_jump) {
    if (grid.pairs) {
      for (int64_t i = 0; i < n; i++) {
        x[2 * i] += shares[i];
        x[2 * i + 1] += shares[i];
      }
    } else {
      for (int64_t i = 0; i < n; i++) {
        x[i * grid.in_step] += shares[i];
      }
    }
  }
}

// to[o] = from[o] by the divisor of window o, and 0 for a window that sees no element.
template <typename T>
void divide_windows(T* to, const T* from, const PoolWindows& windows, std::optional<int64_t> divisor) {
  for_each_window(
      windows, divisor,
      [&](int64_t o, int64_t by, const PoolWindow& depths, const PoolWindow& rows, const PoolWindow& columns) {
        const bool seen = depths.begin < depths.end && rows.begin < rows.end && columns.begin < columns.end;
        to[o] = seen ? from[o] / T(by) : T(0);
      });
}

template <typename T>
constexpr bool has_rows = std::is_same_v<T, float> || std::is_same_v<T, double>;

// --- the kernels -----------------------------------------------------------------------------------------------------

// output (planes, *output), input (planes, *input)
void avg_pool_kernel(const Tensor& output, const Tensor& input, const PoolShape& s, bool count_include_pad,
                     std::optional<int64_t> divisor_override) {
  const PoolWindows windows = windows_of(s, count_include_pad);
  const int64_t height = s.input[1], width = s.input[2];
  const char* name = s.adaptive ? "adaptive_avg_pool2d" : "avg_pool2d";
  dispatch_average(input.scalar_type(), s.adaptive, name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* all = input.data_ptr<scalar_t>();
    scalar_t* means = output.data_ptr<scalar_t>();
    parallel_for(0, s.planes, grain_of(s.input_pixels()), [&](int64_t lo, int64_t hi) {
      for (int64_t p = lo; p < hi; p++) {
        const scalar_t* x = all + p * s.input_pixels();
        scalar_t* y = means + p * s.output_pixels();
        if constexpr (has_rows<scalar_t>) {
          if (rows_are_quick(s)) {
            std::fill_n(y, s.output_pixels(), scalar_t(0));
            for_each_tap(s, [&](const WindowGrid& grid, int64_t out, int64_t in) { add_taps(y + out, x + in, grid); });
            divide_windows(y, y, windows, divisor_override);
            continue;
          }
        }
        for_each_window(windows, divisor_override,
                        [&](int64_t o, int64_t divisor, const PoolWindow& depths, const PoolWindow& rows,
                            const PoolWindow& columns) {
                          opmath_t sum = 0;
                          for (int64_t d = depths.begin; d < depths.end; d++) {
                            for (int64_t h = rows.begin; h < rows.end; h++) {
                              const scalar_t* row = x + (d * height + h) * width;
                              for (int64_t w = columns.begin; w < columns.end; w++) {
                                sum += opmath_t(row[w]);
                              }
                            }
                          }
                          const bool seen =
                              depths.begin < depths.end && rows.begin < rows.end && columns.begin < columns.end;
                          y[o] = static_cast<scalar_t>(seen ? sum / opmath_t(divisor) : opmath_t(0));
                        });
      }
    });
  });
}

void avg_pool_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const PoolShape& s,
                              bool count_include_pad, std::optional<int64_t> divisor_override) {
  const PoolWindows windows = windows_of(s, count_include_pad);
  const int64_t height = s.input[1], width = s.input[2];
  const char* name = s.adaptive ? "adaptive_avg_pool2d_backward" : "avg_pool2d_backward";
  dispatch_average(grad_input.scalar_type(), s.adaptive, name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* grads = grad_output.data_ptr<scalar_t>();
    scalar_t* all = grad_input.data_ptr<scalar_t>();
    parallel_for(0, s.planes, grain_of(s.input_pixels()), [&](int64_t lo, int64_t hi) {
      Scratch<scalar_t> shares(s.output_pixels());
      std::fill(all + lo * s.input_pixels(), all + hi * s.input_pixels(), scalar_t(0));
      for (int64_t p = lo; p < hi; p++) {
        const scalar_t* dy = grads + p * s.output_pixels();
        scalar_t* dx = all + p * s.input_pixels();
        if constexpr (has_rows<scalar_t>) {
          if (rows_are_quick(s)) {
            divide_windows(shares.begin(), dy, windows, divisor_override);
            for_each_tap(s, [&](const WindowGrid& grid, int64_t out, int64_t in) {
              spread_shares(dx + in, shares.begin() + out, grid);
            });
            continue;
          }
        }
        for_each_window(windows, divisor_override,
                        [&](int64_t o, int64_t divisor, const PoolWindow& depths, const PoolWindow& rows,
                            const PoolWindow& columns) {
                          if (divisor == 0) { // a window that sees no element
                            return;
                          }
                          const opmath_t share = opmath_t(dy[o]) / opmath_t(divisor);
                          for (int64_t d = depths.begin; d < depths.end; d++) {
                            for (int64_t h = rows.begin; h < rows.end; h++) {
                              scalar_t* row = dx + (d * height + h) * width;
                              for (int64_t w = columns.begin; w < columns.end; w++) {
                                row[w] = static_cast<scalar_t>(opmath_t(row[w]) + share);
                              }
                            }
                          }
                        });
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(avg_pool_stub, avg_pool_kernel)
REGISTER_CPU_DISPATCH(avg_pool_backward_stub, avg_pool_backward_kernel)

} // namespace reftorch::at::native
