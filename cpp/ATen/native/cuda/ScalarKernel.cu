// Mirrors: aten/src/ATen/native/cuda/CUDAScalar.cu
#include <ATen/native/Scalar.h>

#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>

namespace reftorch::at::native {

// Copies the value to the host, which waits for the earlier work of the current stream and for the copy.
static Scalar local_scalar_dense_kernel_cuda(const Tensor& self) {
  Scalar value;
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "_local_scalar_dense_cuda", [&] {
    const c10::cuda::CUDAGuard guard(self.device().index());
    const auto stream = c10::cuda::getCurrentCUDAStream();
    scalar_t number;
    C10_CUDA_CHECK(cudaMemcpyAsync(&number, self.data_ptr(), sizeof number, cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    value = Scalar(number);
  });
  return value;
}

REGISTER_CUDA_DISPATCH(local_scalar_dense_stub, local_scalar_dense_kernel_cuda)

} // namespace reftorch::at::native
