// Mirrors: nothing in PyTorch: stands in for cuBLAS's <cublas_v2.h> where there is no GPU
// The one function that reftorch calls: a batch of matrix products. Left out: everything else.
#pragma once

#include <cuda_runtime.h>

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_EXECUTION_FAILED = 13 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
using cublasHandle_t = struct cublasContext*;

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
// For each i: c_i (m, n) = alpha * op(a_i) (m, k) @ op(b_i) (k, n) + beta * c_i, the matrices column by column. alpha
// and beta point at host numbers of the type that the product is computed in.
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* a, cudaDataType_t atype,
                                          int lda, long long stridea, const void* b, cudaDataType_t btype, int ldb,
                                          long long strideb, const void* beta, void* c, cudaDataType_t ctype, int ldc,
                                          long long stridec, int batch, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algo);
