// Mirrors: aten/src/ATen/native/cuda/IGammaKernel.cu, aten/src/ATen/native/cuda/ZetaKernel.cu, aten/src/ATen/native/cuda/BinaryMiscOpsKernels.cu
//
// Special functions of two numbers.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinarySpecialOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(igamma_stub, igamma_kernel_cuda, IgammaFunctor, "igamma_cuda")
REGISTER_CUDA_ELEMENTWISE(igammac_stub, igammac_kernel_cuda, IgammacFunctor, "igammac_cuda")
REGISTER_CUDA_ELEMENTWISE(special_zeta_stub, zeta_kernel_cuda, ZetaFunctor, "zeta_cuda")
REGISTER_CUDA_ELEMENTWISE(special_xlog1py_stub, xlog1py_kernel_cuda, Xlog1pyFunctor, "xlog1py_cuda")

} // namespace reftorch::at::native
