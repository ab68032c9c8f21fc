// Mirrors: aten/src/ATen/native/cuda/MultiMarginLoss.cu, aten/src/ATen/native/cuda/MultiLabelMarginCriterion.cu
//
// The losses of one example and their slopes, which the kernels of the CPU and of CUDA share. All rows have C elements,
// one for each class.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace reftorch::at::native::margin {

// --- one right class -------------------------------------------------------------------------------------------------

// The options of multi_margin_loss. weight: (C), or null
template <typename T>
struct Options {
  int64_t C, p;
  T margin;
  const T* weight;

  C10_HOST_DEVICE T weighted(T value, int64_t y) const {
    return weight != nullptr ? value * weight[y] : value;
  }
};

// x: (C), y: the right class
template <typename T>
C10_HOST_DEVICE double loss(const T* x, int64_t y, const Options<T>& o) {
  T sum = 0;
  for (int64_t c = 0; c < o.C; c++) {
    const T short_of = o.margin - x[y] + x[c];
    if (c != y && short_of > 0) {
      sum += o.weighted(o.p == 1 ? short_of : short_of * short_of, y);
    }
  }
  return static_cast<double>(sum / static_cast<T>(o.C));
}

// Writes the slopes of the loss, times grad, to dx (C). share: what a class counts in the loss.
template <typename T>
C10_HOST_DEVICE void loss_backward(T* dx, const T* x, int64_t y, T share, T grad, const Options<T>& o) {
  T of_right = 0; // the right class loses what the wrong classes gain
  for (int64_t c = 0; c < o.C; c++) {
    const T short_of = o.margin - x[y] + x[c];
    const T slope = c != y && short_of > 0 ? o.weighted(o.p == 1 ? share : 2 * share * short_of, y) : T(0);
    dx[c] = slope * grad;
    of_right -= slope;
  }
  dx[y] = of_right * grad;
}

// --- several right classes -------------------------------------------------------------------------------------------

// The number of labels before the first -1, which ends the list of an example. labels: (C)
C10_HOST_DEVICE inline int64_t count_labels(const int64_t* labels, int64_t C) {
  int64_t count = 0;
  while (count < C && labels[count] >= 0) {
    count++;
  }
  return count;
}

// Marks the right classes in is_right (C), which the caller has filled with 0.
template <typename T>
C10_HOST_DEVICE double multilabel_loss(T* is_right, const T* x, const int64_t* labels, int64_t C) {
  const int64_t count = count_labels(labels, C);
  for (int64_t k = 0; k < count; k++) {
    is_right[labels[k]] = 1;
  }
  double sum = 0;
  for (int64_t k = 0; k < count; k++) {
    for (int64_t c = 0; c < C; c++) {
      const T short_of = T(1) - x[labels[k]] + x[c];
      sum += is_right[c] == 0 && short_of > 0 ? short_of : T(0);
    }
  }
  return sum / static_cast<double>(C);
}

// Writes the slopes of the loss, times grad, to dx (C), which the caller has filled with 0.
template <typename T>
C10_HOST_DEVICE void multilabel_loss_backward(T* dx, const T* x, const int64_t* labels, const T* is_right, T share,
                                              T grad, int64_t C) {
  const int64_t count = count_labels(labels, C);
  for (int64_t k = 0; k < count; k++) {
    for (int64_t c = 0; c < C; c++) {
      if (is_right[c] == 0 && T(1) - x[labels[k]] + x[c] > 0) {
        dx[labels[k]] -= share;
        dx[c] += share;
      }
    }
  }
  for (int64_t c = 0; c < C; c++) {
    dx[c] *= grad;
  }
}

} // namespace reftorch::at::native::margin
