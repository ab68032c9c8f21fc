// Mirrors: aten/src/ATen/native/cuda/Blas.cpp, aten/src/ATen/cuda/CUDABlas.cpp
//
// The products of matrices, batches and vectors. One function of cuBLAS computes them all. cuBLAS expects column-major
// matrices, so the product of row-major matrices c = a b is computed as c^T = b^T a^T. Left out: integers, as in
// PyTorch; cuBLASLt.
#include <ATen/native/LinearAlgebra.h>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/native/Blas.h>
#include <ATen/native/MatrixLayout.h>
#include <c10/cuda/CUDADevice.h>

#include <limits>
#include <mutex>

namespace reftorch::at::native {
namespace {

#define CUBLAS_CHECK(EXPR)                                                                                            \
  do {                                                                                                                \
    const cublasStatus_t status = (EXPR);                                                                             \
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "CUDA error: cuBLAS status ", int(status), " when calling `", #EXPR, \
                "`");                                                                                                 \
  } while (0)

// The cuBLAS handle of the current device, set to its current stream. Holds the device's lock.
class CurrentHandle {
 public:
  CurrentHandle() : CurrentHandle(c10::cuda::CUDADevice::get(c10::cuda::current_device())) {}
  operator cublasHandle_t() const {
    return handle_;
  }

 private:
  explicit CurrentHandle(c10::cuda::CUDADevice& device) : lock_(device.mutex()), handle_(device.cublas_handle()) {
    if (handle_ == nullptr) {
      CUBLAS_CHECK(cublasCreate(&handle_));
    }
    CUBLAS_CHECK(cublasSetStream(handle_, c10::cuda::getCurrentCUDAStream()));
  }
  std::lock_guard<std::mutex> lock_;
  cublasHandle_t& handle_;
};

template <typename scalar_t>
constexpr cudaDataType_t cuda_type = std::is_same_v<scalar_t, double>      ? CUDA_R_64F
                                     : std::is_same_v<scalar_t, float>     ? CUDA_R_32F
                                     : std::is_same_v<scalar_t, c10::Half> ? CUDA_R_16F
                                                                           : CUDA_R_16BF;

// cuBLAS takes sizes as 32-bit integers. Raises RuntimeError if the value does not fit.
int to_int(int64_t value) {
  TORCH_CHECK(value <= std::numeric_limits<int>::max(), "cublas: a matrix dimension of ", value, " is too large");
  return static_cast<int>(value);
}

int64_t batch_stride(const Tensor& t) {
  return t.dim() == 3 ? t.strides()[0] : 0;
}

// Computes c = beta * c + alpha * a @ b with shapes (batch, m, n), (batch, m, k) and (batch, k, n). c is row-major.
void gemm(const char* name, const Tensor& result, const Tensor& mat1, const Tensor& mat2, const Scalar& beta_number,
          const Scalar& alpha_number) {
  const c10::cuda::CUDAGuard guard(result.device().index());
  const MatrixLayout a = matrix_layout(mat1), b = matrix_layout(mat2), c = row_major_layout(result);
  const int64_t m = result.size(-2), n = result.size(-1), k = mat1.size(-1);
  const int batch = result.dim() == 3 ? to_int(result.sizes()[0]) : 1;
  auto transpose = [](const MatrixLayout& l) {
    return l.trans == cpublas::TransposeType::Transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  dispatch<FloatingTypesAndReduced>(result.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const auto alpha = alpha_number.to<opmath_t>(), beta = beta_number.to<opmath_t>();
    const auto compute = std::is_same_v<scalar_t, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    const CurrentHandle handle;
    CUBLAS_CHECK(cublasGemmStridedBatchedEx(
        handle, transpose(b), transpose(a), to_int(n), to_int(m), to_int(k), &alpha, b.tensor.data_ptr(),
        cuda_type<scalar_t>, to_int(b.ld), batch_stride(b.tensor), a.tensor.data_ptr(), cuda_type<scalar_t>,
        to_int(a.ld), batch_stride(a.tensor), &beta, c.tensor.data_ptr(), cuda_type<scalar_t>, to_int(c.ld),
        batch_stride(c.tensor), batch, compute, CUBLAS_GEMM_DEFAULT));
  });
  if (!c.tensor.is_same(result)) {
    Tensor out = result;
    at::copy_(out, c.tensor);
  }
}

void addmm_kernel_cuda(const Tensor& result, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                       const Scalar& alpha) {
  gemm("addmm_cuda", result, mat1, mat2, beta, alpha);
}

void baddbmm_kernel_cuda(const char* /*name*/, const Tensor& result, const Tensor& batch1, const Tensor& batch2,
                         const Scalar& beta, const Scalar& alpha) {
  gemm("baddbmm_cuda", result, batch1, batch2, beta, alpha);
}

// Treats a vector as a matrix with one column.
void addmv_kernel_cuda(const Tensor& out, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                       const Scalar& alpha) {
  gemm("addmv_impl_cuda", at::unsqueeze(out.dim() == 0 ? at::unsqueeze(out, 0) : out, 1), mat, at::unsqueeze(vec, 1),
       beta, alpha);
}

void dot_kernel_cuda(const Tensor& result, const Tensor& x, const Tensor& y) {
  gemm("dot", at::unsqueeze(at::unsqueeze(result, 0), 0), at::unsqueeze(x, 0), at::unsqueeze(y, 1), 0, 1);
}

} // namespace

REGISTER_CUDA_DISPATCH(addmm_stub, addmm_kernel_cuda)
REGISTER_CUDA_DISPATCH(baddbmm_stub, baddbmm_kernel_cuda)
REGISTER_CUDA_DISPATCH(addmv_stub, addmv_kernel_cuda)
REGISTER_CUDA_DISPATCH(dot_stub, dot_kernel_cuda)

} // namespace reftorch::at::native
