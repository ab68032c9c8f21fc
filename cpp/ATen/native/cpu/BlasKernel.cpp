// Mirrors: aten/src/ATen/native/cpu/BlasKernel.cpp
#include <ATen/native/cpu/BlasKernel.h>

#include <ATen/native/CPUBlas.h>

namespace reftorch::at::native::cpublas {
namespace {

void cpublas_gemm_impl(c10::ScalarType type, TransposeType transa, TransposeType transb, int64_t m, int64_t n,
                       int64_t k, const Scalar& alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                       const Scalar& beta, void* c, int64_t ldc) {
  const bool ta = transa == TransposeType::Transpose, tb = transb == TransposeType::Transpose;
  AT_DISPATCH_ALL_NUMBERS(type, "cpublas_gemm_impl", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto* a_data = static_cast<const scalar_t*>(a);
    const auto* b_data = static_cast<const scalar_t*>(b);
    auto* c_data = static_cast<scalar_t*>(c);
    if (n == 1) { // a matrix times a vector: nothing to gain from another order
      gemm_naive(ta, tb, m, n, k, alpha.to<opmath_t>(), a_data, lda, b_data, ldb, beta.to<opmath_t>(), c_data, ldc);
    } else {
      gemm_ikj(ta, tb, m, n, k, alpha.to<opmath_t>(), a_data, lda, b_data, ldb, beta.to<opmath_t>(), c_data, ldc);
    }
  });
}

} // namespace

REGISTER_DISPATCH(gemm_stub, cpublas_gemm_impl)

} // namespace reftorch::at::native::cpublas
