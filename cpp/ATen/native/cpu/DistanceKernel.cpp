// Mirrors: aten/src/ATen/native/cpu/DistanceOpsKernel.cpp
#include <ATen/native/Distance.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// One distance: join() takes in |a_i - b_i|, finish() makes the norm of it.
template <typename scalar_t, typename Join, typename Finish>
void cdist_impl(const Tensor& result, const Tensor& x1, const Tensor& x2, const Join& join, const Finish& finish) {
  const int64_t rows = x1.sizes()[1], columns = x2.sizes()[1], width = x1.sizes()[2];
  scalar_t* out = result.data_ptr<scalar_t>();
  const scalar_t *a = x1.data_ptr<scalar_t>(), *b = x2.data_ptr<scalar_t>();
  parallel_for(0, result.numel(), std::max<int64_t>(1, internal::GRAIN_SIZE / width), [&](int64_t lo, int64_t hi) {
    for (int64_t k = lo; k < hi; k++) {
      const int64_t batch = k / (rows * columns), i = k / columns % rows, j = k % columns;
      const scalar_t* from = a + (batch * rows + i) * width;
      const scalar_t* to = b + (batch * columns + j) * width;
      scalar_t acc = 0;
      for (int64_t m = 0; m < width; m++) {
        acc = join(acc, std::abs(from[m] - to[m]));
      }
      out[k] = finish(acc);
    }
  });
}

void cdist_kernel(const Tensor& result, const Tensor& x1, const Tensor& x2, double p) {
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "cdist", [&] {
    using T = scalar_t;
    const auto as_is = [](T acc) { return acc; };
    if (p == 0) {
      cdist_impl<T>(result, x1, x2, [](T acc, T d) { return acc + T(d != 0); }, as_is);
    } else if (p == 1) {
      cdist_impl<T>(result, x1, x2, [](T acc, T d) { return acc + d; }, as_is);
    } else if (p == 2) {
      cdist_impl<T>(result, x1, x2, [](T acc, T d) { return acc + d * d; }, [](T acc) { return std::sqrt(acc); });
    } else if (std::isinf(p)) {
      cdist_impl<T>(result, x1, x2, [](T acc, T d) { return (d > acc) | (d != d) ? d : acc; }, as_is);
    } else {
      cdist_impl<T>(
          result, x1, x2, [p](T acc, T d) { return acc + std::pow(d, T(p)); },
          [p](T acc) { return std::pow(acc, T(1 / p)); });
    }
  });
}

} // namespace

REGISTER_DISPATCH(cdist_stub, cdist_kernel)

} // namespace reftorch::at::native
