// Mirrors: aten/src/ATen/native/cpu/batch_norm_kernel.cpp
//
// Sums over the elements of a channel, and maps of a channel's elements, for the two orders in memory of ChannelLayout:
//   planes: x (N, C, P): a channel has N runs of P elements;
//   rows:   x (R, C): the channels lie last, and a channel is a column.
// A sum adds runs in many lanes, or the rows of all channels at once.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/native/Normalization.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native::channel {

// --- planes: runs of elements of one channel -------------------------------------------------------------------------

// The sum of f(i) over a run of n elements. With 16 partial sums no addition waits for the one before; the partial sums
// of a block are joined in double, so that a long run loses no digits.
constexpr int64_t kLanes = 16, kRun = 1024;

template <typename T, typename F>
TARGET_CLONES static double sum_run(const T* a, const T* b, int64_t n, T shift, F f) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    const int64_t end = std::min(n, begin + kRun);
    T lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int64_t l = 0; l < kLanes; l++) {
        lanes[l] += f(a[i + l], b[i + l], shift);
      }
    }
    T rest = 0;
    for (; i < end; i++) {
      rest += f(a[i], b[i], shift);
    }
    T sum = rest;
    for (T lane : lanes) {
      sum += lane;
    }
    total += double(sum);
  }
  return total;
}

// --- rows: all channels at once --------------------------------------------------------------------------------------

// sums[c] += f(a[c], b[c], shift[c]) for each of the rows of `channels` elements
template <typename T, typename F>
TARGET_CLONES static void sum_rows(T* sums, const T* a, const T* b, const T* shift, int64_t rows, int64_t channels,
                                   F f) {
  for (int64_t r = 0; r < rows; r++, a += channels, b += channels) {
    for (int64_t c = 0; c < channels; c++) {
      sums[c] += f(a[c], b[c], shift[c]);
    }
  }
}

// --- both ------------------------------------------------------------------------------------------------------------

// sums[c] = the sum of f(a[i], b[i], shift[c]) over the elements i of channel c. f must not read what it is not given.
template <typename T, typename F>
void sum_channels(double* sums, const T* a, const T* b, const T* shift, const ChannelLayout& l, const F& f) {
  std::fill_n(sums, l.channels, 0.0);
  if (l.inner == 1) {
    constexpr int64_t kRowBlock = 512; // as many rows are added up in T before they are added in double
    parallel_for(0, l.channels, grain_of(l.outer), [&](int64_t lo, int64_t hi) {
      if (lo == 0 && hi == l.channels) {
        std::vector<T> part(static_cast<size_t>(l.channels));
        for (int64_t begin = 0; begin < l.outer; begin += kRowBlock) {
          std::fill(part.begin(), part.end(), T(0));
          const int64_t offset = begin * l.channels;
          sum_rows(part.data(), a + offset, b + offset, shift, std::min(kRowBlock, l.outer - begin), l.channels, f);
          for (int64_t c = 0; c < l.channels; c++) {
            sums[c] += double(part[c]);
          }
        }
        return;
      }
      std::vector<T> part(static_cast<size_t>(hi - lo)); // this thread's columns
      for (int64_t begin = 0; begin < l.outer; begin += kRowBlock) {
        std::fill(part.begin(), part.end(), T(0));
        for (int64_t r = begin; r < std::min(begin + kRowBlock, l.outer); r++) {
          sum_rows(part.data(), a + r * l.channels + lo, b + r * l.channels + lo, shift + lo, 1, hi - lo, f);
        }
        for (int64_t c = lo; c < hi; c++) {
          sums[c] += double(part[c - lo]);
        }
      }
    });
    return;
  }
  parallel_for(0, l.channels, grain_of(l.outer * l.inner), [&](int64_t lo, int64_t hi) {
    for (int64_t c = lo; c < hi; c++) {
      for (int64_t n = 0; n < l.outer; n++) {
        const int64_t run = (n * l.channels + c) * l.inner;
        sums[c] += sum_run(a + run, b + run, l.inner, shift[c], f);
      }
    }
  });
}

// y[i] = x[i] * scale + offset over a run
template <typename T>
TARGET_CLONES static void affine_run(T* y, const T* x, T scale, T offset, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] * scale + offset;
  }
}

template <typename T>
TARGET_CLONES static void affine_rows(T* y, const T* x, const T* scale, const T* offset, int64_t rows,
                                      int64_t channels) {
  for (int64_t r = 0; r < rows; r++, y += channels, x += channels) {
    for (int64_t c = 0; c < channels; c++) {
      y[c] = x[c] * scale[c] + offset[c];
    }
  }
}

// y = x * scale[c] + offset[c]
template <typename T>
void affine_channels(T* y, const T* x, const T* scale, const T* offset, const ChannelLayout& l) {
  if (l.inner == 1) {
    parallel_for(0, l.outer, grain_of(l.channels), [&](int64_t lo, int64_t hi) {
      affine_rows(y + lo * l.channels, x + lo * l.channels, scale, offset, hi - lo, l.channels);
    });
    return;
  }
  parallel_for(0, l.outer * l.channels, grain_of(l.inner), [&](int64_t lo, int64_t hi) {
    for (int64_t run = lo; run < hi; run++) {
      affine_run(y + run * l.inner, x + run * l.inner, scale[run % l.channels], offset[run % l.channels], l.inner);
    }
  });
}

// dx = dy * a + (x - m) * b + c over a run
template <typename T>
TARGET_CLONES static void combine_run(T* dx, const T* dy, const T* x, T m, T a, T b, T c, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    dx[i] = dy[i] * a + (x[i] - m) * b + c;
  }
}

template <typename T>
TARGET_CLONES static void combine_rows(T* dx, const T* dy, const T* x, const T* m, const T* a, const T* b, const T* c,
                                       int64_t rows, int64_t channels) {
  for (int64_t r = 0; r < rows; r++, dx += channels, dy += channels, x += channels) {
    for (int64_t i = 0; i < channels; i++) {
      dx[i] = dy[i] * a[i] + (x[i] - m[i]) * b[i] + c[i];
    }
  }
}

// dx = dy * a + (x - m) * b + c with the numbers a, b, c and m of each channel
template <typename T>
void combine_channels(T* dx, const T* dy, const T* x, const T* m, const T* a, const T* b, const T* c,
                      const ChannelLayout& l) {
  if (l.inner == 1) {
    parallel_for(0, l.outer, grain_of(l.channels), [&](int64_t lo, int64_t hi) {
      const int64_t first = lo * l.channels;
      combine_rows(dx + first, dy + first, x + first, m, a, b, c, hi - lo, l.channels);
    });
    return;
  }
  parallel_for(0, l.outer * l.channels, grain_of(l.inner), [&](int64_t lo, int64_t hi) {
    for (int64_t run = lo; run < hi; run++) {
      const int64_t i = run % l.channels, first = run * l.inner;
      combine_run(dx + first, dy + first, x + first, m[i], a[i], b[i], c[i], l.inner);
    }
  });
}

} // namespace reftorch::at::native::channel
