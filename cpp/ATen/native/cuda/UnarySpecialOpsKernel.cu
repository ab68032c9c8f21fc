// Mirrors: aten/src/ATen/native/cuda/UnarySpecialOpsKernel.cu, aten/src/ATen/native/cuda/UnaryGammaKernels.cu
//
// Special functions of one number.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnarySpecialOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(logit_stub, logit_kernel_cuda, LogitFunctor, "logit_cuda")
REGISTER_CUDA_ELEMENTWISE(sinc_stub, sinc_kernel_cuda, SincFunctor, "sinc_cuda")
REGISTER_CUDA_ELEMENTWISE(erfinv_stub, erfinv_kernel_cuda, ErfinvFunctor, "erfinv_cuda")
REGISTER_CUDA_ELEMENTWISE(lgamma_stub, lgamma_kernel_cuda, LgammaFunctor, "lgamma_cuda")
REGISTER_CUDA_ELEMENTWISE(digamma_stub, digamma_kernel_cuda, DigammaFunctor, "digamma_cuda")
REGISTER_CUDA_ELEMENTWISE(polygamma_stub, polygamma_kernel_cuda, PolygammaFunctor, "polygamma_cuda")
REGISTER_CUDA_ELEMENTWISE(mvlgamma_stub, mvlgamma_kernel_cuda, MvlgammaFunctor, "mvlgamma_cuda")
REGISTER_CUDA_ELEMENTWISE(i0_stub, i0_kernel_cuda, I0Functor, "i0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_i0e_stub, special_i0e_kernel_cuda, I0eFunctor, "i0e_cuda")
REGISTER_CUDA_ELEMENTWISE(special_i1_stub, special_i1_kernel_cuda, I1Functor, "i1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_i1e_stub, special_i1e_kernel_cuda, I1eFunctor, "i1e_cuda")
REGISTER_CUDA_ELEMENTWISE(special_entr_stub, special_entr_kernel_cuda, EntrFunctor, "entr_cuda")
REGISTER_CUDA_ELEMENTWISE(special_erfcx_stub, special_erfcx_kernel_cuda, ErfcxFunctor, "erfcx_cuda")
REGISTER_CUDA_ELEMENTWISE(special_log_ndtr_stub, special_log_ndtr_kernel_cuda, LogNdtrFunctor, "log_ndtr_cuda")
REGISTER_CUDA_ELEMENTWISE(special_ndtri_stub, special_ndtri_kernel_cuda, NdtriFunctor, "ndtri_cuda")

} // namespace reftorch::at::native
