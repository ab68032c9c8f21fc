// Mirrors: aten/src/ATen/native/cuda/CUDAScalar.cu
#include <ATen/native/Scalar.h>

#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Load.h>
#include <c10/util/LongWork.h>

namespace reftorch::at::native {

// Copies the value to the host, which waits for the earlier work of the current stream and for the copy.
static Scalar local_scalar_dense_kernel_cuda(const Tensor& self) {
  Scalar value;
  dispatch<AllTypesAndBool>(self.scalar_type(), "_local_scalar_dense_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(self.device().index());
    const auto stream = c10::cuda::getCurrentCUDAStream();
    scalar_t number;
    c10::LongWork::begin();
    C10_CUDA_CHECK(cudaMemcpyAsync(&number, self.data_ptr(), sizeof number, cudaMemcpyDeviceToHost, stream));
    c10::cuda::warn_or_error_on_sync();
    stream.synchronize();
    value = Scalar(c10::load(&number));
  });
  return value;
}

REGISTER_CUDA_DISPATCH(local_scalar_dense_stub, local_scalar_dense_kernel_cuda)

} // namespace reftorch::at::native
