// Mirrors: aten/src/ATen/native/cpu/PaddingKernel.cpp
//
// Copies elements into a border, and adds their gradients up. The loops go row by row; PaddingShape::source says which
// row of the input a row of the output copies, and the rows of depth and height borders are copies of whole rows.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/Padding.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

// Calls f(output_row, input_row) with the indices of all pairs of rows of one part of the output: (depth, height).
template <typename F>
void for_each_row(const PaddingShape& s, const F& f) {
  for (int64_t d = 0; d < s.output[0]; d++) {
    const int64_t from_depth = s.source(0, d) * s.input[1];
    for (int64_t h = 0; h < s.output[1]; h++) {
      f(d * s.output[1] + h, from_depth + s.source(1, h));
    }
  }
}

// The middle of a row: the elements of the output in [begin, end) are those of the input from `source` on, in order.
struct Middle {
  int64_t begin, end, source;
};

Middle middle_of(const PaddingShape& s) {
  const int64_t before = s.before[2], width = s.output[2];
  const int64_t begin = std::min(std::max<int64_t>(before, 0), width);
  const int64_t end = std::max(begin, std::min(before + s.input[2], width));
  return {begin, end, begin - before};
}

// The first rung, element by element: to (width of output, inner), from (width of input, inner).
template <typename T>
void pad_row_by_elements(T* to, const T* from, const PaddingShape& s, int64_t begin, int64_t end) {
  for (int64_t w = begin; w < end; w++) {
    std::copy_n(from + s.source(2, w) * s.inner, s.inner, to + w * s.inner);
  }
}

// The second rung copies the middle of the row at once, and only the border by elements.
template <typename T>
void pad_row(T* to, const T* from, const PaddingShape& s, const Middle& middle) {
  pad_row_by_elements(to, from, s, 0, middle.begin);
  std::copy_n(from + middle.source * s.inner, (middle.end - middle.begin) * s.inner, to + middle.begin * s.inner);
  pad_row_by_elements(to, from, s, middle.end, s.output[2]);
}

// The same two rungs backward: to (width of input, inner), from (width of output, inner). Sums of 16-bit floats are
// rounded after each term, as in PyTorch.
template <typename T>
void add_run(T* __restrict to, const T* __restrict from, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    to[i] += from[i];
  }
}

template <typename T>
void add_row_by_elements(T* to, const T* from, const PaddingShape& s, int64_t begin, int64_t end) {
  for (int64_t w = begin; w < end; w++) {
    add_run(to + s.source(2, w) * s.inner, from + w * s.inner, s.inner);
  }
}

template <typename T>
void add_row(T* to, const T* from, const PaddingShape& s, const Middle& middle) {
  add_row_by_elements(to, from, s, 0, middle.begin);
  add_run(to + middle.source * s.inner, from + middle.begin * s.inner, (middle.end - middle.begin) * s.inner);
  add_row_by_elements(to, from, s, middle.end, s.output[2]);
}

int64_t elements_of(const PaddingShape::Dims& sizes, int64_t inner) {
  return sizes[0] * sizes[1] * sizes[2] * inner;
}

// output (outer, *s.output, inner), input (outer, *s.input, inner)
void padding_kernel(const Tensor& output, const Tensor& input, const PaddingShape& s) {
  const int64_t outputs = elements_of(s.output, s.inner), inputs = elements_of(s.input, s.inner);
  const int64_t row_out = s.output[2] * s.inner, row_in = s.input[2] * s.inner;
  const Middle middle = middle_of(s);
  dispatch<AllNumbers>(input.scalar_type(), s.op.c_str(), [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* const y = output.data_ptr<scalar_t>();
    const scalar_t* const x = input.data_ptr<scalar_t>();
    parallel_for(0, s.outer, grain_of(outputs), [&](int64_t lo, int64_t hi) {
      for (int64_t p = lo; p < hi; p++) {
        for_each_row(s, [&](int64_t to, int64_t from) {
          pad_row(y + p * outputs + to * row_out, x + p * inputs + from * row_in, s, middle);
        });
      }
    });
  });
}

// grad_input (outer, *s.input, inner), grad_output (outer, *s.output, inner)
void padding_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const PaddingShape& s) {
  const int64_t outputs = elements_of(s.output, s.inner), inputs = elements_of(s.input, s.inner);
  const int64_t row_out = s.output[2] * s.inner, row_in = s.input[2] * s.inner;
  const Middle middle = middle_of(s);
  dispatch<FloatingTypesAndReduced>(grad_output.scalar_type(), s.op.c_str(), [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* const dx = grad_input.data_ptr<scalar_t>();
    const scalar_t* const dy = grad_output.data_ptr<scalar_t>();
    parallel_for(0, s.outer, grain_of(outputs), [&](int64_t lo, int64_t hi) {
      std::fill(dx + lo * inputs, dx + hi * inputs, scalar_t(0));
      for (int64_t p = lo; p < hi; p++) {
        for_each_row(s, [&](int64_t from, int64_t to) {
          add_row(dx + p * inputs + to * row_in, dy + p * outputs + from * row_out, s, middle);
        });
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(padding_stub, padding_kernel)
REGISTER_CPU_DISPATCH(padding_backward_stub, padding_backward_kernel)

} // namespace reftorch::at::native
