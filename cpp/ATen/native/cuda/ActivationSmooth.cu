// Mirrors: aten/src/ATen/native/cuda/ActivationGeluKernel.cu, aten/src/ATen/native/cuda/ActivationEluKernel.cu and kin
//
// The activation functions that contain exponentials.
#include <ATen/native/Activation.h>
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/cuda/KernelUtils.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

void gelu_kernel_cuda(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    gpu_elementwise<GeluFunctor>(iter, "GeluCUDAKernelImpl");
  } else {
    gpu_elementwise<GeluTanhFunctor>(iter, "GeluCUDAKernelImpl");
  }
}

void gelu_backward_kernel_cuda(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    gpu_elementwise<GeluBackwardFunctor>(iter, "GeluBackwardCUDAKernelImpl");
  } else {
    gpu_elementwise<GeluTanhBackwardFunctor>(iter, "GeluBackwardCUDAKernelImpl");
  }
}

void elu_backward_kernel_cuda(TensorIterator& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                              bool is_result) {
  if (is_result) {
    gpu_elementwise<EluBackwardOfResultFunctor>(iter, "elu_backward_cuda", alpha, scale, input_scale);
  } else {
    gpu_elementwise<EluBackwardFunctor>(iter, "elu_backward_cuda", alpha, scale, input_scale);
  }
}

// log_sigmoid: min(x, 0) - log(1 + e^-|x|). The power is kept in `buffer` for the backward.
template <typename scalar_t>
__global__ void log_sigmoid_kernel(scalar_t* out, scalar_t* buffer, const scalar_t* in, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const opmath_t x = in[i], power = std::exp(-std::fabs(x));
    buffer[i] = static_cast<scalar_t>(power);
    out[i] = static_cast<scalar_t>((x > opmath_t(0) ? opmath_t(0) : x) - std::log1p(power));
  }
}

void log_sigmoid_kernel_cuda(const Tensor& output, const Tensor& buffer, const Tensor& self) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "log_sigmoid_forward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(self, self.numel(), log_sigmoid_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    buffer.data_ptr<scalar_t>(), self.data_ptr<scalar_t>(), self.numel());
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(gelu_stub, gelu_kernel_cuda)
REGISTER_CUDA_DISPATCH(gelu_backward_stub, gelu_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(elu_backward_stub, elu_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(log_sigmoid_stub, log_sigmoid_kernel_cuda)
REGISTER_CUDA_ELEMENTWISE(elu_stub, elu_kernel_cuda, EluFunctor, "elu_cuda")
REGISTER_CUDA_ELEMENTWISE(silu_stub, silu_kernel_cuda, SiluFunctor, "silu_cuda")
REGISTER_CUDA_ELEMENTWISE(silu_backward_stub, silu_backward_kernel_cuda, SiluBackwardFunctor, "silu_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(mish_stub, mish_kernel_cuda, MishFunctor, "mish_cuda")
REGISTER_CUDA_ELEMENTWISE(mish_backward_stub, mish_backward_kernel_cuda, MishBackwardFunctor, "mish_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(softplus_stub, softplus_kernel_cuda, SoftplusFunctor, "softplus_cuda")
REGISTER_CUDA_ELEMENTWISE(softplus_backward_stub, softplus_backward_kernel_cuda, SoftplusBackwardFunctor,
                          "softplus_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(log_sigmoid_backward_stub, log_sigmoid_backward_kernel_cuda, LogSigmoidBackwardFunctor,
                          "log_sigmoid_backward_cuda")

} // namespace reftorch::at::native
