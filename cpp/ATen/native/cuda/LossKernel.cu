// Mirrors: aten/src/ATen/native/cuda/Loss.cu, aten/src/ATen/native/cuda/BinaryMiscOpsKernels.cu (smooth_l1, huber)
//
// Losses of pairs of elements. Left out: the check that inputs of binary_cross_entropy are probabilities, which would
// have to stop the device.
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/PointwiseOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(binary_cross_entropy_stub, binary_cross_entropy_kernel_cuda, BinaryCrossEntropyFunctor,
                          "binary_cross_entropy_cuda")
REGISTER_CUDA_ELEMENTWISE(smooth_l1_stub, smooth_l1_kernel_cuda, SmoothL1Functor, "smooth_l1_cuda")
REGISTER_CUDA_ELEMENTWISE(smooth_l1_backward_stub, smooth_l1_backward_kernel_cuda, SmoothL1BackwardFunctor,
                          "smooth_l1_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(huber_stub, huber_kernel_cuda, HuberFunctor, "huber_cuda")
REGISTER_CUDA_ELEMENTWISE(huber_backward_stub, huber_backward_kernel_cuda, HuberBackwardFunctor, "huber_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(binary_cross_entropy_backward_stub, binary_cross_entropy_backward_kernel_cuda,
                          BinaryCrossEntropyBackwardFunctor, "binary_cross_entropy_backward_cuda")

} // namespace reftorch::at::native
