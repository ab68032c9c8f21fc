// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (chebyshev_polynomial_t_kernel, ...)
//
// The orthogonal polynomials.
#include <ATen/native/PolynomialOps.h>
#include <ATen/native/PolynomialOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(chebyshev_polynomial_t_stub, chebyshev_polynomial_t_kernel, ChebyshevPolynomialTFunctor,
                         "chebyshev_polynomial_t_cpu")
REGISTER_CPU_ELEMENTWISE(chebyshev_polynomial_u_stub, chebyshev_polynomial_u_kernel, ChebyshevPolynomialUFunctor,
                         "chebyshev_polynomial_u_cpu")
REGISTER_CPU_ELEMENTWISE(chebyshev_polynomial_v_stub, chebyshev_polynomial_v_kernel, ChebyshevPolynomialVFunctor,
                         "chebyshev_polynomial_v_cpu")
REGISTER_CPU_ELEMENTWISE(chebyshev_polynomial_w_stub, chebyshev_polynomial_w_kernel, ChebyshevPolynomialWFunctor,
                         "chebyshev_polynomial_w_cpu")
REGISTER_CPU_ELEMENTWISE(hermite_polynomial_h_stub, hermite_polynomial_h_kernel, HermitePolynomialHFunctor,
                         "hermite_polynomial_h_cpu")
REGISTER_CPU_ELEMENTWISE(hermite_polynomial_he_stub, hermite_polynomial_he_kernel, HermitePolynomialHeFunctor,
                         "hermite_polynomial_he_cpu")
REGISTER_CPU_ELEMENTWISE(laguerre_polynomial_l_stub, laguerre_polynomial_l_kernel, LaguerrePolynomialLFunctor,
                         "laguerre_polynomial_l_cpu")
REGISTER_CPU_ELEMENTWISE(legendre_polynomial_p_stub, legendre_polynomial_p_kernel, LegendrePolynomialPFunctor,
                         "legendre_polynomial_p_cpu")
REGISTER_CPU_ELEMENTWISE(shifted_chebyshev_polynomial_t_stub, shifted_chebyshev_polynomial_t_kernel,
                         ShiftedChebyshevPolynomialTFunctor, "shifted_chebyshev_polynomial_t_cpu")
REGISTER_CPU_ELEMENTWISE(shifted_chebyshev_polynomial_u_stub, shifted_chebyshev_polynomial_u_kernel,
                         ShiftedChebyshevPolynomialUFunctor, "shifted_chebyshev_polynomial_u_cpu")
REGISTER_CPU_ELEMENTWISE(shifted_chebyshev_polynomial_v_stub, shifted_chebyshev_polynomial_v_kernel,
                         ShiftedChebyshevPolynomialVFunctor, "shifted_chebyshev_polynomial_v_cpu")
REGISTER_CPU_ELEMENTWISE(shifted_chebyshev_polynomial_w_stub, shifted_chebyshev_polynomial_w_kernel,
                         ShiftedChebyshevPolynomialWFunctor, "shifted_chebyshev_polynomial_w_cpu")

} // namespace reftorch::at::native
