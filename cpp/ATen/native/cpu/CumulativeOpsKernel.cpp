// Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp (cumsum)
#include <ATen/Dispatch.h>
#include <ATen/native/ReduceOps.h>

namespace reftorch::at::native {
namespace {

// result, self: (outer, n, inner). Floats add up in double, as in PyTorch: a running sum has no other way to keep its
// digits.
void cumsum_kernel(const Tensor& result, const Tensor& self, DimShape shape) {
  AT_DISPATCH_ALL_NUMBERS(self.scalar_type(), "cumsum_out_cpu", [&] {
    using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
    const scalar_t* in = self.data_ptr<scalar_t>();
    scalar_t* out = result.data_ptr<scalar_t>();
    for (int64_t o = 0; o < shape.outer; o++) {
      for (int64_t c = 0; c < shape.inner; c++) {
        const int64_t first = o * shape.n * shape.inner + c;
        acc_t sum = 0;
        for (int64_t i = 0; i < shape.n; i++) {
          sum += acc_t(in[first + i * shape.inner]);
          out[first + i * shape.inner] = scalar_t(opmath_type<scalar_t>(sum));
        }
      }
    }
  });
}

} // namespace

REGISTER_DISPATCH(cumsum_stub, cumsum_kernel)

} // namespace reftorch::at::native
