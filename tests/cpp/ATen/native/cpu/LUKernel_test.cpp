// Mirrors: nothing in PyTorch: it has LAPACK's getrf only
// The elimination to read finds what LAPACK finds: the same pivots, the same factors, the same singular column.
#include <ATen/native/cpu/LUKernel.h>
#include <ATen/native/cpu/Lapack.h>

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace reftorch::at::native;

namespace {

template <typename T>
struct Factored {
  std::vector<T> a;
  std::vector<int> pivots;
  int info;
};

template <typename T>
Factored<T> by_lapack(int m, int n, int lda, std::vector<T> a) {
  std::vector<int> pivots(static_cast<size_t>(std::min(m, n)));
  int info = 0;
  lapack<T>::getrf(&m, &n, a.data(), &lda, pivots.data(), &info);
  return {a, pivots, info};
}

template <typename T>
Factored<T> by_hand(int m, int n, int lda, std::vector<T> a) {
  std::vector<int> pivots(static_cast<size_t>(std::min(m, n)));
  const int info = getrf_naive<T>(m, n, a.data(), lda, pivots.data());
  return {a, pivots, info};
}

} // namespace

TEST_CASE_TEMPLATE("getrf_naive equals LAPACK's getrf", T, float, double) {
  std::mt19937 random(7);
  std::uniform_real_distribution<T> number(-1, 1);
  const int shapes[][2] = {{1, 1}, {3, 3}, {5, 3}, {3, 5}, {33, 33}};
  for (const auto& [m, n] : shapes) {
    const int lda = m + 2; // more memory than rows
    std::vector<T> a(static_cast<size_t>(lda) * n);
    for (T& x : a) {
      x = number(random);
    }
    const Factored<T> want = by_lapack(m, n, lda, a), got = by_hand(m, n, lda, a);
    CHECK(got.info == 0);
    CHECK(got.info == want.info);
    CHECK(got.pivots == want.pivots);
    for (size_t i = 0; i < a.size(); i++) {
      CHECK(got.a[i] == doctest::Approx(want.a[i]).epsilon(1e-3));
    }
  }
}

TEST_CASE("getrf_naive names the column in which a singular matrix has no pivot") {
  const std::vector<double> a = {1, 2, 3, 2, 4, 6, 1, 0, 1}; // the second column is twice the first
  const Factored<double> want = by_lapack(3, 3, 3, a), got = by_hand(3, 3, 3, a);
  CHECK(want.info == 2);
  CHECK(got.info == want.info);
}
