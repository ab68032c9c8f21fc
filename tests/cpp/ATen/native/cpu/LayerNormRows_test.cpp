// Mirrors: nothing in PyTorch: its layer_norm has one rung
// The rungs of LayerNormRows.h against each other, on short rows, on rows past a block of Note [Cascade], and on more
// rows than are summed at a time.
#include <ATen/native/cpu/LayerNormRows.h>

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace reftorch::at::native;

namespace {

using Floats = std::vector<float>;

Floats random_floats(int64_t n, float low, float high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  Floats values(n);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

void check_close(const Floats& got, const Floats& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); i++) {
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance));
  }
}

struct Shape {
  int64_t M, N;
};
const Shape kShapes[] = {{1, 1}, {3, 5}, {2, 64}, {300, 7}, {2, 130}, {2, kBlock + 3}};

} // namespace

TEST_CASE("the rungs of layer_norm agree") {
  for (auto [M, N] : kShapes) {
    const Floats x = random_floats(M * N, -2, 3, 1), gamma = random_floats(N, 0.5, 2, 2),
                 beta = random_floats(N, 1, 2, 3);
    for (bool affine : {true, false}) {
      Floats y(M * N), mean(M), rstd(M), naive_y(M * N), naive_mean(M), naive_rstd(M);
      const float *g = affine ? gamma.data() : nullptr, *b = affine ? beta.data() : nullptr;
      layer_norm_rows<float>(y.data(), mean.data(), rstd.data(), x.data(), g, b, M, N, 0.1f);
      layer_norm_rows_naive<float, float>(naive_y.data(), naive_mean.data(), naive_rstd.data(), x.data(), g, b, M, N,
                                          0.1);
      check_close(y, naive_y, 1e-4);
      check_close(mean, naive_mean, 1e-5);
      check_close(rstd, naive_rstd, 1e-5);
    }
  }
}

TEST_CASE("layer_norm keeps its digits where the first elements of a row are far from the rest") {
  constexpr int64_t N = 20000;
  Floats x = random_floats(N, -2, 3, 1), y(N), mean(1), rstd(1), naive_y(N), naive_mean(1), naive_rstd(1);
  std::fill_n(x.begin(), 32, 1000.f);
  layer_norm_rows<float>(y.data(), mean.data(), rstd.data(), x.data(), nullptr, nullptr, 1, N, 0.1f);
  layer_norm_rows_naive<float, float>(naive_y.data(), naive_mean.data(), naive_rstd.data(), x.data(), nullptr, nullptr,
                                      1, N, 0.1);
  CHECK(rstd[0] / naive_rstd[0] == doctest::Approx(1).epsilon(1e-6));
  CHECK(mean[0] / naive_mean[0] == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("the rungs of layer_norm's backward agree") {
  for (auto [M, N] : kShapes) {
    const Floats x = random_floats(M * N, -2, 3, 1), dy = random_floats(M * N, 0.5, 2, 4);
    const Floats gamma = random_floats(N, 0.5, 2, 2), mean = random_floats(M, -1, 1, 5),
                 rstd = random_floats(M, 1, 2, 6);
    for (const float* g : {gamma.data(), static_cast<const float*>(nullptr)}) {
      Floats dx(M * N), dgamma(N), dbeta(N), naive_dx(M * N), naive_dgamma(N), naive_dbeta(N);
      layer_norm_backward_rows_naive<float, float>(naive_dx.data(), naive_dgamma.data(), naive_dbeta.data(), dy.data(),
                                                   x.data(), mean.data(), rstd.data(), g, M, N);
      layer_norm_backward_rows<float>(dx.data(), dy.data(), x.data(), mean.data(), rstd.data(), g, M, N);
      for (int64_t first = 0; first < N; first += kStrip) {
        layer_norm_backward_columns<float, float>(dgamma.data(), dbeta.data(), dy.data(), x.data(), mean.data(),
                                                  rstd.data(), M, N, first, std::min(kStrip, N - first));
      }
      check_close(dx, naive_dx, 1e-3);
      check_close(dgamma, naive_dgamma, 1e-3);
      check_close(dbeta, naive_dbeta, 1e-5);
    }
  }
}
