// Mirrors: aten/src/ATen/native/cuda/chebyshev_polynomial_t.cu, aten/src/ATen/native/cuda/chebyshev_polynomial_u.cu, aten/src/ATen/native/cuda/chebyshev_polynomial_v.cu, aten/src/ATen/native/cuda/chebyshev_polynomial_w.cu, aten/src/ATen/native/cuda/hermite_polynomial_h.cu, aten/src/ATen/native/cuda/hermite_polynomial_he.cu, aten/src/ATen/native/cuda/laguerre_polynomial_l.cu, aten/src/ATen/native/cuda/legendre_polynomial_p.cu, aten/src/ATen/native/cuda/shifted_chebyshev_polynomial_t.cu, aten/src/ATen/native/cuda/shifted_chebyshev_polynomial_u.cu, aten/src/ATen/native/cuda/shifted_chebyshev_polynomial_v.cu, aten/src/ATen/native/cuda/shifted_chebyshev_polynomial_w.cu
//
// The orthogonal polynomials.
#include <ATen/native/PolynomialOps.h>
#include <ATen/native/PolynomialOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(chebyshev_polynomial_t_stub, chebyshev_polynomial_t_kernel_cuda, ChebyshevPolynomialTFunctor,
                          "chebyshev_polynomial_t_cuda")
REGISTER_CUDA_ELEMENTWISE(chebyshev_polynomial_u_stub, chebyshev_polynomial_u_kernel_cuda, ChebyshevPolynomialUFunctor,
                          "chebyshev_polynomial_u_cuda")
REGISTER_CUDA_ELEMENTWISE(chebyshev_polynomial_v_stub, chebyshev_polynomial_v_kernel_cuda, ChebyshevPolynomialVFunctor,
                          "chebyshev_polynomial_v_cuda")
REGISTER_CUDA_ELEMENTWISE(chebyshev_polynomial_w_stub, chebyshev_polynomial_w_kernel_cuda, ChebyshevPolynomialWFunctor,
                          "chebyshev_polynomial_w_cuda")
REGISTER_CUDA_ELEMENTWISE(hermite_polynomial_h_stub, hermite_polynomial_h_kernel_cuda, HermitePolynomialHFunctor,
                          "hermite_polynomial_h_cuda")
REGISTER_CUDA_ELEMENTWISE(hermite_polynomial_he_stub, hermite_polynomial_he_kernel_cuda, HermitePolynomialHeFunctor,
                          "hermite_polynomial_he_cuda")
REGISTER_CUDA_ELEMENTWISE(laguerre_polynomial_l_stub, laguerre_polynomial_l_kernel_cuda, LaguerrePolynomialLFunctor,
                          "laguerre_polynomial_l_cuda")
REGISTER_CUDA_ELEMENTWISE(legendre_polynomial_p_stub, legendre_polynomial_p_kernel_cuda, LegendrePolynomialPFunctor,
                          "legendre_polynomial_p_cuda")
REGISTER_CUDA_ELEMENTWISE(shifted_chebyshev_polynomial_t_stub, shifted_chebyshev_polynomial_t_kernel_cuda,
                          ShiftedChebyshevPolynomialTFunctor, "shifted_chebyshev_polynomial_t_cuda")
REGISTER_CUDA_ELEMENTWISE(shifted_chebyshev_polynomial_u_stub, shifted_chebyshev_polynomial_u_kernel_cuda,
                          ShiftedChebyshevPolynomialUFunctor, "shifted_chebyshev_polynomial_u_cuda")
REGISTER_CUDA_ELEMENTWISE(shifted_chebyshev_polynomial_v_stub, shifted_chebyshev_polynomial_v_kernel_cuda,
                          ShiftedChebyshevPolynomialVFunctor, "shifted_chebyshev_polynomial_v_cuda")
REGISTER_CUDA_ELEMENTWISE(shifted_chebyshev_polynomial_w_stub, shifted_chebyshev_polynomial_w_kernel_cuda,
                          ShiftedChebyshevPolynomialWFunctor, "shifted_chebyshev_polynomial_w_cuda")

} // namespace reftorch::at::native
