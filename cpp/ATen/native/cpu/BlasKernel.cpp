// Mirrors: aten/src/ATen/native/cpu/BlasKernel.cpp
#include <ATen/native/cpu/BlasKernel.h>

#include <ATen/native/CPUBlas.h>
#include <ATen/native/cpu/BlasTiles.h>

#include <numeric>

namespace reftorch::at::native::cpublas {

void gemm_kernel(c10::ScalarType type, TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k,
                 const Scalar& alpha, const void* a, int64_t lda, const void* b, int64_t ldb, const Scalar& beta,
                 void* c, int64_t ldc) {
  const bool ta = transa == TransposeType::Transpose, tb = transb == TransposeType::Transpose;
  dispatch<AllNumbers>(type, "cpublas_gemm_impl", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const auto* a_data = static_cast<const scalar_t*>(a);
    const auto* b_data = static_cast<const scalar_t*>(b);
    auto* c_data = static_cast<scalar_t*>(c);
    if constexpr (!std::is_same_v<scalar_t, opmath_t>) {
      gemm_in_float(ta, tb, m, n, k, alpha.to<float>(), a_data, lda, b_data, ldb, beta.to<float>(), c_data, ldc);
    } else if (n == 1) { // a matrix times a vector, where another order of loops is not faster
      gemm_naive(ta, tb, m, n, k, alpha.to<opmath_t>(), a_data, lda, b_data, ldb, beta.to<opmath_t>(), c_data, ldc);
    } else {
      gemm_ikj(ta, tb, m, n, k, alpha.to<opmath_t>(), a_data, lda, b_data, ldb, beta.to<opmath_t>(), c_data, ldc);
    }
  });
}

#ifdef GEMM_HAS_TILES
template <typename scalar_t>
bool gemm_tiles_kernel(TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k, scalar_t alpha,
                       const scalar_t* a, int64_t lda, const scalar_t* b, int64_t ldb, scalar_t beta, scalar_t* c,
                       int64_t ldc) {
  if (alpha == 0 || !tiles_suit_product(m, n, k)) { // with an alpha of 0, a BLAS does not read a and b
    return false;
  }
  gemm_tiled(transa == TransposeType::Transpose, transb == TransposeType::Transpose, m, n, k, alpha, a, lda, b, ldb,
             beta, c, ldc);
  return true;
}
#else
template <typename scalar_t>
bool gemm_tiles_kernel(TransposeType, TransposeType, int64_t, int64_t, int64_t, scalar_t, const scalar_t*, int64_t,
                       const scalar_t*, int64_t, scalar_t, scalar_t*, int64_t) {
  return false;
}
#endif

#define INSTANTIATE(scalar_t)                                                                                         \
  template bool gemm_tiles_kernel(TransposeType, TransposeType, int64_t, int64_t, int64_t, scalar_t, const scalar_t*, \
                                  int64_t, const scalar_t*, int64_t, scalar_t, scalar_t*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

namespace {

// total[i % kLanes] += x[i] * y[i]: with many sums, no addition has to wait for the one before.
constexpr int kLanes = 64;
template <typename X, typename Y>
TARGET_CLONES static void add_products(float* total, const X* x, const Y* y, int64_t n) {
  float lanes[kLanes]; // a local copy, because the compiler cannot rule out that total overlaps with x
  std::copy_n(total, kLanes, lanes);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; l++) {
      lanes[l] += float(x[i + l]) * float(y[i + l]);
    }
  }
  for (int l = 0; i + l < n; l++) {
    lanes[l] += float(x[i + l]) * float(y[i + l]);
  }
  std::copy_n(lanes, kLanes, total);
}

} // namespace

template <typename scalar_t>
scalar_t dot_naive(int64_t n, const scalar_t* x, int64_t incx, const scalar_t* y, int64_t incy) {
  scalar_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += x[i * incx] * y[i * incy];
  }
  return sum;
}

#define INSTANTIATE(scalar_t) template scalar_t dot_naive(int64_t, const scalar_t*, int64_t, const scalar_t*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::Half)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
INSTANTIATE(int16_t)
INSTANTIATE(int32_t)
INSTANTIATE(int64_t)
#undef INSTANTIATE

float reduced_dot_kernel(c10::ScalarType dtype, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy) {
  float total[kLanes] = {};
  const auto add_blocks = [&](auto& x_block, auto& y_block, int64_t size) {
    for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
      const int64_t width = std::min(kBlockWidth, n - begin);
      add_products(total, x_block.block(static_cast<const char*>(x), incx * size, begin, width),
                   y_block.block(static_cast<const char*>(y), incy * size, begin, width), width);
    }
  };
  dispatch<ReducedFloatingTypes>(dtype, "dot", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    BlockBuffer<scalar_t, float> x_block, y_block;
    add_blocks(x_block, y_block, sizeof(scalar_t));
  });
  return std::accumulate(total, total + kLanes, 0.f);
}

} // namespace reftorch::at::native::cpublas
