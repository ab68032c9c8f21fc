// Mirrors: aten/src/ATen/test/math_kernel_test.cpp
// The ladder of matrix products: each rung equals the first one.
#include <ATen/native/CPUBlas.h>
#include <ATen/native/cpu/BlasKernel.h>
#include <ATen/native/cpu/BlasTiles.h>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace {

using namespace reftorch::at::native::cpublas;

template <typename T>
std::vector<T> pattern(int64_t n, int64_t seed) {
  std::vector<T> values(n);
  for (int64_t i = 0; i < n; i++) {
    values[i] = static_cast<T>((i * 7 + seed * 5) % 11 - 5);
  }
  return values;
}

TransposeType transpose_if(bool t) {
  return t ? TransposeType::Transpose : TransposeType::NoTranspose;
}

// Leading dimensions are larger than need be, as in a part of a matrix. The numbers are small integers: every sum is
// exact in every dtype, and what lies beside the matrix must be untouched.
template <typename T>
void compare_rungs(int64_t m, int64_t n, int64_t k, T alpha, T beta) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const int64_t lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
      const auto a = pattern<T>((ta ? k : m) * lda, 1), b = pattern<T>((tb ? n : k) * ldb, 2);
      const auto c = pattern<T>(m * ldc, 3);
      auto naive = c, ikj = c, fast = c;
      gemm_naive<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, naive.data(), ldc);
      gemm_ikj<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, ikj.data(), ldc);
      gemm<T>(transpose_if(ta), transpose_if(tb), m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, fast.data(), ldc);
      CHECK(ikj == naive);
      CHECK(fast == naive);
    }
  }
}

// The bits, which a vector compares.
template <typename T>
std::vector<uint16_t> bits_of(const std::vector<T>& values) {
  std::vector<uint16_t> bits;
  for (const T& value : values) {
    bits.push_back(value.x);
  }
  return bits;
}

// Sums of small integers, which 16 bits hold.
template <typename T>
std::vector<T> small_pattern(int64_t n, int64_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; i++) {
    values.push_back(T(float((i * 7 + seed * 5) % 5 - 2)));
  }
  return values;
}

template <typename T>
void compare_rungs_in_float(int64_t m, int64_t n, int64_t k, float alpha, float beta) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (int64_t gap : {0, 2}) {
        const int64_t lda = (ta ? m : k) + gap, ldb = (tb ? k : n) + gap, ldc = n + gap;
        const auto a = small_pattern<T>((ta ? k : m) * lda, 1), b = small_pattern<T>((tb ? n : k) * ldb, 2);
        const auto c = small_pattern<T>(m * ldc, 3);
        auto naive = c, in_float = c, fast = c;
        gemm_naive<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, naive.data(), ldc);
        gemm_in_float<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, in_float.data(), ldc);
        gemm<T>(transpose_if(ta), transpose_if(tb), m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, fast.data(),
                ldc);
        CHECK(bits_of(in_float) == bits_of(naive));
        CHECK(bits_of(fast) == bits_of(naive));
      }
    }
  }
}

} // namespace

TEST_CASE_TEMPLATE("the rungs of gemm agree", T, float, double, int32_t, int64_t) {
  for (int64_t m : {1, 2, 7}) {
    for (int64_t n : {1, 3, 8}) {
      for (int64_t k : {0, 1, 5}) {
        compare_rungs<T>(m, n, k, 1, 0);
        compare_rungs<T>(m, n, k, 2, 3);
      }
    }
  }
}

#ifdef GEMM_HAS_TILES
TEST_CASE_TEMPLATE("the tiles of gemm agree with the first rung", T, float, double) {
  if (!can_multiply_tiles()) {
    MESSAGE("not compared: this processor has no AVX-512");
    return;
  }
  const auto compare = [](int64_t m, int64_t n, int64_t k, T alpha, T beta) {
    for (bool ta : {false, true}) {
      for (bool tb : {false, true}) {
        INFO("m " << m << ", n " << n << ", k " << k << ", transposed " << ta << tb << ", beta " << beta);
        const int64_t lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
        const auto a = pattern<T>((ta ? k : m) * lda - 2, 1), b = pattern<T>((tb ? n : k) * ldb - 1, 2);
        auto naive = pattern<T>(m * ldc - 3, 3);
        if (beta == 0) { // the old c is not read
          std::fill(naive.begin(), naive.end(), std::numeric_limits<T>::infinity());
        }
        auto tiled = naive;
        gemm_naive<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, naive.data(), ldc);
        gemm_tiled<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, tiled.data(), ldc);
        CHECK(tiled == naive);
      }
    }
  };
  for (int64_t m : {1, 6, 7, 17, 140}) { // 140 rows: the panels of b are copied
    for (int64_t n : {1, 8, 16, 33, 64, 100}) {
      for (int64_t k : {1, 5, 16, 128, 300}) { // 300: c is taken up again
        compare(m, n, k, 1, 0);
        compare(m, n, k, 2, 3);
      }
    }
  }
}

TEST_CASE("gemm takes tiles where they are the quicker rung") {
  const auto a = pattern<float>(128 * 128, 1), b = pattern<float>(128 * 128, 2);
  auto c = pattern<float>(128 * 128, 3), old = c, naive = c;
  const auto product = [&](int64_t m, float alpha) {
    return gemm_tiles_kernel<float>(TransposeType::NoTranspose, TransposeType::Transpose, m, 128, 128, alpha, a.data(),
                                    128, b.data(), 128, 1, c.data(), 128);
  };
  CHECK(!product(8, 1)); // too small
  CHECK(!product(128, 0));
  CHECK(!tiles_suit_product(2000, 2000, 0));
  CHECK(c == old);
  CHECK(product(128, 1) == can_multiply_tiles());
  gemm_naive<float>(false, true, 128, 128, 128, 1, a.data(), 128, b.data(), 128, 1, naive.data(), 128);
  CHECK(c == (can_multiply_tiles() ? naive : old));
}
#endif

TEST_CASE("a large gemm is split over threads by rows and by columns") {
  compare_rungs<float>(300, 100, 90, 1, 0);
  compare_rungs<float>(100, 300, 90, 1, 1);
}

TEST_CASE("gemm does not read c where beta is 0") {
  const std::vector<float> a(4, 1), b(4, 1);
  for (auto* rung : {&gemm_naive<float, float>, &gemm_ikj<float, float>}) {
    std::vector<float> c(4, std::numeric_limits<float>::quiet_NaN());
    rung(false, false, 2, 2, 2, 1, a.data(), 2, b.data(), 2, 0, c.data(), 2);
    CHECK(c == std::vector<float>(4, 2));
  }
}

TEST_CASE_TEMPLATE("gemv and dot agree with gemm", T, float, double, int32_t) {
  const auto a = pattern<T>(5 * 4, 1), x = pattern<T>(4 * 2, 2);
  auto y = pattern<T>(5, 3), expected = y;
  gemm_naive<T>(false, false, 5, 1, 4, 2, a.data(), 4, x.data(), 2, 3, expected.data(), 1);
  gemv<T>(TransposeType::NoTranspose, 5, 4, 2, a.data(), 4, x.data(), 2, 3, y.data(), 1);
  CHECK(y == expected);
  gemm_naive<T>(false, false, 1, 1, 4, 1, a.data(), 4, x.data(), 2, 0, expected.data(), 1);
  CHECK(dot<T>(4, a.data(), 1, x.data(), 2) == expected[0]);
}

TEST_CASE_TEMPLATE("the rungs of gemm agree on 16-bit floats", T, reftorch::c10::Half, reftorch::c10::BFloat16) {
  for (int64_t m : {1, 2, 7}) {
    for (int64_t n : {1, 3, 8}) {
      for (int64_t k : {0, 1, 19}) {
        compare_rungs_in_float<T>(m, n, k, 1, 0);
        compare_rungs_in_float<T>(m, n, k, 2, 3);
      }
    }
  }
  compare_rungs_in_float<T>(300, 1, 700, 1, 0); // the matrix is copied in more than one piece
  compare_rungs_in_float<T>(1, 300, 20, 1, 1);
  compare_rungs_in_float<T>(160, 150, 110, 1, 1); // and on more than one thread
}

TEST_CASE_TEMPLATE("gemm of 16-bit floats does not read c where beta is 0", T, reftorch::c10::Half,
                   reftorch::c10::BFloat16) {
  const std::vector<T> a(4, T(1.f)), b(4, T(1.f));
  std::vector<T> c(4, std::numeric_limits<T>::quiet_NaN());
  gemm_in_float<T>(false, false, 2, 2, 2, 1, a.data(), 2, b.data(), 2, 0, c.data(), 2);
  CHECK(bits_of(c) == bits_of(std::vector<T>(4, T(2.f))));
}

TEST_CASE_TEMPLATE("dot of 16-bit floats sums up wider than them", T, reftorch::c10::Half, reftorch::c10::BFloat16) {
  for (int64_t n : {0, 1, 63, 64, 511, 513, 3000}) {
    for (int64_t incx : {1, 2}) {
      const auto x = small_pattern<T>(n * incx, 1), y = small_pattern<T>(3 * n, 2);
      double sum = 0;
      for (int64_t i = 0; i < n; i++) {
        sum += double(float(x[i * incx])) * double(float(y[3 * i]));
      }
      CHECK(dot<T>(n, x.data(), incx, y.data(), 3).x == T(float(sum)).x);
    }
  }
  const std::vector<T> ones(20000, T(1.f));
  CHECK(dot<T>(20000, ones.data(), 1, ones.data(), 1).x == T(20000.f).x);
}
