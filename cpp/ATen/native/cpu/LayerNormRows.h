// Mirrors: aten/src/ATen/native/cpu/layer_norm_kernel.cpp, aten/src/ATen/native/cpu/moments_utils.h
//
// The arithmetic of layer_norm and of its backward on rows x: (M, N), y = (x - mean) rstd gamma + beta. gamma and beta
// have N elements; a null pointer stands for ones and zeros. The naive rung comes first, then the fast one, which uses
// vector instructions and sums by Note [Cascade].
#pragma once

#include <ATen/native/cpu/Reduce.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {

template <typename scalar_t, typename opmath_t>
void layer_norm_rows_naive(scalar_t* y, opmath_t* mean, opmath_t* rstd, const scalar_t* x, const opmath_t* gamma,
                           const opmath_t* beta, int64_t M, int64_t N, double eps) {
  for (int64_t i = 0; i < M; i++, x += N, y += N) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < N; j++) {
      sum += double(opmath_t(x[j]));
    }
    const double center = sum / double(N);
    for (int64_t j = 0; j < N; j++) {
      const double distance = double(opmath_t(x[j])) - center;
      squares += distance * distance;
    }
    mean[i] = opmath_t(center);
    rstd[i] = opmath_t(1 / std::sqrt(squares / double(N) + eps));
    for (int64_t j = 0; j < N; j++) {
      const opmath_t normal = (opmath_t(x[j]) - mean[i]) * rstd[i];
      y[j] = normal * (gamma != nullptr ? gamma[j] : opmath_t(1)) + (beta != nullptr ? beta[j] : opmath_t(0));
    }
  }
}

// With a = dy gamma and n = (x - mean) rstd: dx = rstd (a - mean(a) - n mean(a n)), dgamma is the sum of dy n over the
// rows, and dbeta is the sum of dy over the rows. Each of the three may be null, and is then not computed.
template <typename scalar_t, typename opmath_t>
void layer_norm_backward_rows_naive(scalar_t* dx, opmath_t* dgamma, opmath_t* dbeta, const scalar_t* dy,
                                    const scalar_t* x, const opmath_t* mean, const opmath_t* rstd,
                                    const opmath_t* gamma, int64_t M, int64_t N) {
  for (int64_t j = 0; j < N; j++) {
    double weights = 0, biases = 0;
    for (int64_t i = 0; i < M; i++) {
      const int64_t at = i * N + j;
      weights += double(opmath_t(dy[at])) * double((opmath_t(x[at]) - mean[i]) * rstd[i]);
      biases += double(opmath_t(dy[at]));
    }
    if (dgamma != nullptr) {
      dgamma[j] = opmath_t(weights);
    }
    if (dbeta != nullptr) {
      dbeta[j] = opmath_t(biases);
    }
  }
  for (int64_t i = 0; i < M && dx != nullptr; i++, x += N, dy += N, dx += N) {
    double sum = 0, products = 0;
    for (int64_t j = 0; j < N; j++) {
      const double a = double(opmath_t(dy[j])) * (gamma != nullptr ? double(gamma[j]) : 1);
      sum += a;
      products += a * double((opmath_t(x[j]) - mean[i]) * rstd[i]);
    }
    for (int64_t j = 0; j < N; j++) {
      const double a = double(opmath_t(dy[j])) * (gamma != nullptr ? double(gamma[j]) : 1);
      const double normal = double((opmath_t(x[j]) - mean[i]) * rstd[i]);
      dx[j] = opmath_t(double(rstd[i]) * (a - sum / double(N) - normal * (products / double(N))));
    }
  }
}

// The sums of x - center and of its squares, by Note [Cascade]. The partial sums of a block stay in registers; in the
// end, the upper half of them is added to the lower half until one is left.
template <typename T>
struct SumsAbout {
  T sum = 0, squares = 0;
};
template <typename T>
inline SumsAbout<T> sums_about(T center, const T* x, int64_t n) {
  constexpr int64_t kLanes = 32;
  SumsAbout<T> total;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n), whole = begin + (end - begin) / kLanes * kLanes;
    T sums[kLanes] = {}, squares[kLanes] = {};
    for (int64_t j = begin; j < whole; j += kLanes) {
#pragma omp simd
      for (int64_t l = 0; l < kLanes; l++) {
        const T distance = x[j + l] - center;
        sums[l] += distance;
        squares[l] += distance * distance;
      }
    }
#pragma omp simd
    for (int64_t l = 0; l < end - whole; l++) {
      const T distance = x[whole + l] - center;
      sums[l] += distance;
      squares[l] += distance * distance;
    }
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; l++) {
        sums[l] += sums[l + half];
        squares[l] += squares[l + half];
      }
    }
    total.sum += sums[0];
    total.squares += squares[0];
  }
  return total;
}

// y may be x. Each row takes two passes, and the second finds the row in the cache: the first pass sums about a center
// that the first elements of the row suggest, and then corrects the center. The further the center is from the mean,
// the more digits the variance loses in the subtraction. If it would lose more than one bit, the sums are taken again.
template <typename opmath_t>
TARGET_CLONES static void layer_norm_rows(opmath_t* y, opmath_t* mean, opmath_t* rstd, const opmath_t* x,
                                          const opmath_t* gamma, const opmath_t* beta, int64_t M, int64_t N,
                                          opmath_t eps) {
  constexpr int64_t kFirst = 32;
  const int64_t first = std::min(N, kFirst);
  for (int64_t i = 0; i < M; i++, x += N, y += N) {
    opmath_t center = sums_about(opmath_t(0), x, first).sum / opmath_t(first), correction, variance;
    int sums_taken = 0;
    do {
      const auto [sum, squares] = sums_about(center, x, N);
      correction = sum / opmath_t(N);
      variance = squares / opmath_t(N) - correction * correction;
      center += correction;
    } while (++sums_taken < 2 && correction * correction > variance);
    const opmath_t scale = opmath_t(1) / std::sqrt(std::max(variance, opmath_t(0)) + eps);
    mean[i] = center;
    rstd[i] = scale;
    if (gamma != nullptr && beta != nullptr) { // the usual case has no branch in its loop
#pragma omp simd
      for (int64_t j = 0; j < N; j++) {
        y[j] = (x[j] - center) * scale * gamma[j] + beta[j];
      }
    } else {
      for (int64_t j = 0; j < N; j++) {
        const opmath_t normal = (x[j] - center) * scale;
        y[j] = normal * (gamma != nullptr ? gamma[j] : opmath_t(1)) + (beta != nullptr ? beta[j] : opmath_t(0));
      }
    }
  }
}

template <typename opmath_t>
TARGET_CLONES static void layer_norm_backward_rows(opmath_t* dx, const opmath_t* dy, const opmath_t* x,
                                                   const opmath_t* mean, const opmath_t* rstd, const opmath_t* gamma,
                                                   int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; i++, x += N, dy += N, dx += N) {
    const opmath_t center = mean[i], scale = rstd[i];
    opmath_t sum = 0, products = 0;
    for (int64_t begin = 0; begin < N; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, N);
      opmath_t part = 0, product = 0;
#pragma omp simd reduction(+ : part, product)
      for (int64_t j = begin; j < end; j++) {
        const opmath_t a = gamma != nullptr ? dy[j] * gamma[j] : dy[j];
        part += a;
        product += a * ((x[j] - center) * scale);
      }
      sum += part;
      products += product;
    }
    const opmath_t mean_of_a = sum / opmath_t(N), mean_of_products = products / opmath_t(N);
#pragma omp simd
    for (int64_t j = 0; j < N; j++) {
      const opmath_t a = gamma != nullptr ? dy[j] * gamma[j] : dy[j];
      dx[j] = scale * (a - mean_of_a - (x[j] - center) * scale * mean_of_products);
    }
  }
}

// Computes the columns [first, first + width) of dgamma and dbeta, where width <= kStrip.
template <typename scalar_t, typename opmath_t>
TARGET_CLONES static void layer_norm_backward_columns(opmath_t* dgamma, opmath_t* dbeta, const scalar_t* dy,
                                                      const scalar_t* x, const opmath_t* mean, const opmath_t* rstd,
                                                      int64_t M, int64_t N, int64_t first, int64_t width) {
  constexpr int64_t kRows = 128; // so many rows are summed before they are added to the large sums
  opmath_t weights[kStrip] = {}, biases[kStrip] = {}, row_room[kStrip], grad_room[kStrip];
  for (int64_t begin = 0; begin < M; begin += kRows) {
    opmath_t weight[kStrip] = {}, bias[kStrip] = {};
    for (int64_t i = begin; i < std::min(begin + kRows, M); i++) {
      const opmath_t* row = widened(x + i * N + first, width, row_room);
      const opmath_t* grad = widened(dy + i * N + first, width, grad_room);
      const opmath_t center = mean[i], scale = rstd[i];
#pragma omp simd
      for (int64_t j = 0; j < width; j++) {
        weight[j] += grad[j] * ((row[j] - center) * scale);
        bias[j] += grad[j];
      }
    }
    for (int64_t j = 0; j < width; j++) {
      weights[j] += weight[j];
      biases[j] += bias[j];
    }
  }
  if (dgamma != nullptr) {
    std::copy_n(weights, width, dgamma + first);
  }
  if (dbeta != nullptr) {
    std::copy_n(biases, width, dbeta + first);
  }
}

} // namespace reftorch::at::native
