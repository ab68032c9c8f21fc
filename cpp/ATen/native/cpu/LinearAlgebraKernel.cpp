// Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (addmm_impl_cpu_, baddbmm_cpu_kernel), aten/src/ATen/native/Blas.cpp (addmv_impl_cpu, dot)
//
// Computes the products of matrices, batches and vectors by calls of a BLAS; see CPUBlas.h.
#include <ATen/native/LinearAlgebra.h>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/native/Blas.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/MatrixLayout.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

void addmm_kernel(const Tensor& result, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                  const Scalar& alpha) {
  const MatrixLayout a = matrix_layout(mat1), b = matrix_layout(mat2), c = row_major_layout(result);
  dispatch<AllNumbers>(result.scalar_type(), "addmm_impl_cpu_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    cpublas::gemm<scalar_t>(a.trans, b.trans, mat1.sizes()[0], mat2.sizes()[1], mat1.sizes()[1], alpha.to<opmath_t>(),
                            a.tensor.data_ptr<scalar_t>(), a.ld, b.tensor.data_ptr<scalar_t>(), b.ld,
                            beta.to<opmath_t>(), c.tensor.data_ptr<scalar_t>(), c.ld);
  });
  if (!c.tensor.is_same(result)) {
    Tensor out = result;
    at::copy_(out, c.tensor);
  }
}

void baddbmm_kernel(const char* name, const Tensor& result, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha) {
  const Tensor c = result.contiguous();
  const MatrixLayout a = matrix_layout(batch1), b = matrix_layout(batch2);
  const int64_t batches = c.sizes()[0], m = c.sizes()[1], n = c.sizes()[2], k = batch1.sizes()[2];
  dispatch<AllNumbers>(batch1.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const int64_t grain = std::max<int64_t>((int64_t(1) << 20) / std::max<int64_t>(m * n * k, 1), 1);
    at::parallel_for(0, batches, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        cpublas::gemm<scalar_t>(a.trans, b.trans, m, n, k, alpha.to<opmath_t>(),
                                a.tensor.data_ptr<scalar_t>() + i * a.tensor.strides()[0], a.ld,
                                b.tensor.data_ptr<scalar_t>() + i * b.tensor.strides()[0], b.ld, beta.to<opmath_t>(),
                                c.data_ptr<scalar_t>() + i * m * n, n);
      }
    });
  });
  if (!c.is_same(result)) {
    Tensor out = result;
    at::copy_(out, c);
  }
}

void addmv_kernel(const Tensor& out, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  const MatrixLayout a = matrix_layout(mat);
  dispatch<AllNumbers>(mat.scalar_type(), "addmv_impl_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    cpublas::gemv<scalar_t>(a.trans, mat.sizes()[0], mat.sizes()[1], alpha.to<opmath_t>(),
                            a.tensor.data_ptr<scalar_t>(), a.ld, vec.data_ptr<scalar_t>(), vec.strides()[0],
                            beta.to<opmath_t>(), out.data_ptr<scalar_t>(), out.dim() == 0 ? 1 : out.strides()[0]);
  });
}

void dot_kernel(const Tensor& result, const Tensor& x, const Tensor& y) {
  dispatch<AllNumbers>(x.scalar_type(), "dot", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    *result.data_ptr<scalar_t>() = cpublas::dot<scalar_t>(x.numel(), x.data_ptr<scalar_t>(), x.strides()[0],
                                                          y.data_ptr<scalar_t>(), y.strides()[0]);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(addmm_stub, addmm_kernel)
REGISTER_CPU_DISPATCH(baddbmm_stub, baddbmm_kernel)
REGISTER_CPU_DISPATCH(addmv_stub, addmv_kernel)
REGISTER_CPU_DISPATCH(dot_stub, dot_kernel)

} // namespace reftorch::at::native
