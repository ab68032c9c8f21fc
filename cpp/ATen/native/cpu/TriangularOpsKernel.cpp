// Mirrors: aten/src/ATen/native/TriangularOps.cpp (apply_triu_tril_single, which PyTorch keeps beside the op)
#include <ATen/native/TriangularOps.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <type_traits>

namespace reftorch::at::native {
namespace {

// self is (batch, rows, cols), with any strides.
template <typename scalar_t>
void zero_triangle(const Tensor& self, int64_t k, bool upper) {
  const int64_t nd = self.dim(), rows = self.size(-2), cols = self.size(-1);
  const int64_t row_stride = self.stride(-2), col_stride = self.stride(-1);
  at::parallel_for(0, self.numel() / (rows * cols), at::grain_of(rows * cols), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      scalar_t* matrix = self.data_ptr<scalar_t>();
      for (int64_t d = nd - 3, rest = b; d >= 0; d--) {
        matrix += rest % self.sizes()[d] * self.strides()[d];
        rest /= self.sizes()[d];
      }
      for (int64_t i = 0; i < rows; i++) {
        const int64_t first = upper ? 0 : std::clamp<int64_t>(i + k + 1, 0, cols);
        const int64_t last = upper ? std::clamp<int64_t>(i + k, 0, cols) : cols;
        for (int64_t j = first; j < last; j++) {
          matrix[i * row_stride + j * col_stride] = scalar_t(0);
        }
      }
    }
  });
}

void triu_tril_kernel(const Tensor& self, int64_t k, bool upper) {
  dispatch<AllTypesAndBool>(self.scalar_type(), upper ? "triu" : "tril", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    zero_triangle<scalar_t>(self, k, upper);
  });
}

void trace_kernel(const Tensor& result, const Tensor& self) {
  dispatch<AllNumbers>(self.scalar_type(), "trace", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using result_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    const scalar_t* data = self.data_ptr<scalar_t>();
    acc_type<scalar_t> sum = 0;
    for (int64_t i = 0; i < std::min(self.sizes()[0], self.sizes()[1]); i++) {
      sum += acc_type<scalar_t>(data[i * (self.strides()[0] + self.strides()[1])]);
    }
    *result.data_ptr<result_t>() = static_cast<result_t>(sum);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(triu_tril_stub, triu_tril_kernel)
REGISTER_CPU_DISPATCH(trace_stub, trace_kernel)

} // namespace reftorch::at::native
