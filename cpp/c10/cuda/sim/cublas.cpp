// Mirrors: nothing in PyTorch: the simulator's cuBLAS, over OpenBLAS
// A product is one operation of its stream. 16-bit floats are multiplied as copies in float, because OpenBLAS has no
// product for them.
#include <c10/cuda/sim/cublas_v2.h>
#include <c10/cuda/sim/runtime.h>
#include <c10/util/BFloat16.h>

#include <cblas.h>

#include <vector>

#define BLAS_PASTE(prefix, name) prefix##name
#define BLAS_EXPAND(prefix, name) BLAS_PASTE(prefix, name)
#define BLAS(name) BLAS_EXPAND(BLAS_SYMBOL_PREFIX, name)

struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace cudasim {
namespace {

struct Gemm {
  cublasOperation_t transa, transb;
  int m, n, k, lda, ldb, ldc, batch;
  long long stridea, strideb, stridec;
  double alpha, beta;
  const void *a, *b;
  void* c;
};

void gemm(const Gemm& g, const float* a, const float* b, float* c) {
  BLAS(cblas_sgemm)(CblasColMajor, g.transa == CUBLAS_OP_T ? CblasTrans : CblasNoTrans,
                    g.transb == CUBLAS_OP_T ? CblasTrans : CblasNoTrans, g.m, g.n, g.k, static_cast<float>(g.alpha), a,
                    g.lda, b, g.ldb, static_cast<float>(g.beta), c, g.ldc);
}
void gemm(const Gemm& g, const double* a, const double* b, double* c) {
  BLAS(cblas_dgemm)(CblasColMajor, g.transa == CUBLAS_OP_T ? CblasTrans : CblasNoTrans,
                    g.transb == CUBLAS_OP_T ? CblasTrans : CblasNoTrans, g.m, g.n, g.k, g.alpha, a, g.lda, b, g.ldb,
                    g.beta, c, g.ldc);
}

template <typename T>
std::vector<float> floats(const T* data, int rows, int columns, int ld) {
  std::vector<float> copy(static_cast<size_t>(ld) * columns);
  for (int j = 0; j < columns; j++) {
    for (int i = 0; i < rows; i++) {
      copy[static_cast<size_t>(j) * ld + i] = data[static_cast<size_t>(j) * ld + i];
    }
  }
  return copy;
}
template <typename T>
void gemm(const Gemm& g, const T* a, const T* b, T* c) {
  const bool ta = g.transa == CUBLAS_OP_T, tb = g.transb == CUBLAS_OP_T;
  const std::vector<float> fa = floats(a, ta ? g.k : g.m, ta ? g.m : g.k, g.lda);
  const std::vector<float> fb = floats(b, tb ? g.n : g.k, tb ? g.k : g.n, g.ldb);
  std::vector<float> fc = floats(c, g.m, g.n, g.ldc);
  gemm(g, fa.data(), fb.data(), fc.data());
  for (int j = 0; j < g.n; j++) {
    for (int i = 0; i < g.m; i++) {
      c[static_cast<size_t>(j) * g.ldc + i] = T(fc[static_cast<size_t>(j) * g.ldc + i]);
    }
  }
}

template <typename T>
void gemm_batch(const Gemm& g) {
  for (int i = 0; i < g.batch; i++) {
    gemm(g, static_cast<const T*>(g.a) + i * g.stridea, static_cast<const T*>(g.b) + i * g.strideb,
         static_cast<T*>(g.c) + i * g.stridec);
  }
}

} // namespace
} // namespace cudasim

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* a, cudaDataType_t atype,
                                          int lda, long long stridea, const void* b, cudaDataType_t btype, int ldb,
                                          long long strideb, const void* beta, void* c, cudaDataType_t ctype, int ldc,
                                          long long stridec, int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
  using namespace cudasim;
  if (atype != btype || atype != ctype || (compute == CUBLAS_COMPUTE_64F) != (atype == CUDA_R_64F)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool wide = compute == CUBLAS_COMPUTE_64F;
  auto number = [&](const void* p) { return wide ? *static_cast<const double*>(p) : *static_cast<const float*>(p); };
  const Gemm g{transa,        transb,       m, n, k, lda, ldb, ldc, batch, stridea, strideb, stridec,
               number(alpha), number(beta), a, b, c};
  const cudaError_t error = with_stream(handle->stream, [&](const StreamPtr& stream) {
    enqueue(stream, [g, atype, device = stream->device] {
      with_open_peers(*device, [&] {
        switch (atype) {
          case CUDA_R_64F: return gemm_batch<double>(g);
          case CUDA_R_32F: return gemm_batch<float>(g);
          case CUDA_R_16F: return gemm_batch<reftorch::c10::Half>(g);
          case CUDA_R_16BF: return gemm_batch<reftorch::c10::BFloat16>(g);
        }
      });
    });
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
