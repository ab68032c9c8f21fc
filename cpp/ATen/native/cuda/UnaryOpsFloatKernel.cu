// Mirrors: aten/src/ATen/native/cuda/UnaryOpsKernel.cu, aten/src/ATen/native/cuda/UnaryGeometricTanhKernel.cu and kin
//
// The functions of real numbers that models use most; the others are in UnaryOpsMathKernel.cu. The iterator has
// converted integers to floats.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(sqrt_stub, sqrt_kernel_cuda, SqrtFunctor, "sqrt_cuda")
REGISTER_CUDA_ELEMENTWISE(rsqrt_stub, rsqrt_kernel_cuda, RsqrtFunctor, "rsqrt_cuda")
REGISTER_CUDA_ELEMENTWISE(reciprocal_stub, reciprocal_kernel_cuda, ReciprocalFunctor, "reciprocal_cuda")
REGISTER_CUDA_ELEMENTWISE(exp_stub, exp_kernel_cuda, ExpFunctor, "exp_cuda")
REGISTER_CUDA_ELEMENTWISE(expm1_stub, expm1_kernel_cuda, Expm1Functor, "expm1_cuda")
REGISTER_CUDA_ELEMENTWISE(log_stub, log_kernel_cuda, LogFunctor, "log_cuda")
REGISTER_CUDA_ELEMENTWISE(log1p_stub, log1p_kernel_cuda, Log1pFunctor, "log1p_cuda")
REGISTER_CUDA_ELEMENTWISE(sin_stub, sin_kernel_cuda, SinFunctor, "sin_cuda")
REGISTER_CUDA_ELEMENTWISE(cos_stub, cos_kernel_cuda, CosFunctor, "cos_cuda")
REGISTER_CUDA_ELEMENTWISE(tan_stub, tan_kernel_cuda, TanFunctor, "tan_cuda")
REGISTER_CUDA_ELEMENTWISE(tanh_stub, tanh_kernel_cuda, TanhFunctor, "tanh_cuda")
REGISTER_CUDA_ELEMENTWISE(sigmoid_stub, sigmoid_kernel_cuda, SigmoidFunctor, "sigmoid_cuda")

} // namespace reftorch::at::native
