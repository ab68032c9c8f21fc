// Mirrors: nothing in PyTorch: its fused cell has one rung
// The two rungs of LSTMRows.h against each other, on short rows, on rows that do not fill a vector, and on huge
// numbers.
#include <ATen/native/cpu/LSTMRows.h>

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace reftorch::at::native;

namespace {

template <typename T>
std::vector<T> random_numbers(int64_t n, T limit, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> uniform(-limit, limit);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) {
    value = uniform(generator);
  }
  return values;
}

template <typename T>
void check_close(const std::vector<T>& got, const std::vector<T>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); i++) {
    CHECK(std::abs(got[i] - expected[i]) <= 1e-6 * (1 + std::abs(expected[i])));
  }
}

} // namespace

TEST_CASE_TEMPLATE("the rungs of the fused LSTM cell agree", T, float, double) {
  for (int64_t H : {1, 3, 16, 37, 128}) {
    for (T limit : {T(1), T(4), T(200)}) {
      const auto a = random_numbers<T>(4 * H, limit, 1), b = random_numbers<T>(4 * H, limit, 2),
                 cx = random_numbers<T>(H, 2, 3), gh = random_numbers<T>(H, 1, 4), gc = random_numbers<T>(H, 1, 5);
      std::vector<T> h(H), c(H), w(4 * H), naive_h(H), naive_c(H), naive_w(4 * H);
      lstm_cell_row(h.data(), c.data(), w.data(), a.data(), b.data(), cx.data(), H);
      lstm_cell_naive(naive_h.data(), naive_c.data(), naive_w.data(), a.data(), b.data(), cx.data(), H);
      check_close(h, naive_h);
      check_close(c, naive_c);
      check_close(w, naive_w);
      std::vector<T> gates(4 * H), last(H), naive_gates(4 * H), naive_last(H);
      lstm_cell_backward_row(gates.data(), last.data(), gh.data(), gc.data(), cx.data(), c.data(), w.data(), H);
      lstm_cell_backward_naive(naive_gates.data(), naive_last.data(), gh.data(), gc.data(), cx.data(), c.data(),
                               w.data(), H);
      check_close(gates, naive_gates);
      check_close(last, naive_last);
    }
  }
}
