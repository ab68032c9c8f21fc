// Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp (lapackLu and its kin), caffe2's declarations of LAPACK
//
// LAPACK's routines for float and double under one name, for example lapack<scalar_t>::getrf. The routines come from
// the BLAS wheel. Fortran takes every argument by pointer, counts in 32 bits, and expects the length of each character
// argument at the end.
#pragma once

#include <cstddef>

namespace reftorch::at::native {

#define LAPACK_CONCAT_(a, b) a##b
#define LAPACK_CONCAT(a, b) LAPACK_CONCAT_(a, b)
#define LAPACK_SYMBOL(name) LAPACK_CONCAT(BLAS_SYMBOL_PREFIX, name)

// clang-format off
#define DECLARE_LAPACK(T, getrf, getrs, sytrf, sytrs, potrf, potrs, trsm, geqrf, orgqr, gesdd, syevd, gels, gelsy,     \
                       gelsd, gelss)                                                                                   \
  void LAPACK_SYMBOL(getrf)(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);                   \
  void LAPACK_SYMBOL(getrs)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda,              \
                            const int* ipiv, T* b, const int* ldb, int* info, size_t);                                 \
  void LAPACK_SYMBOL(sytrf)(const char* uplo, const int* n, T* a, const int* lda, int* ipiv, T* work,                  \
                            const int* lwork, int* info, size_t);                                                      \
  void LAPACK_SYMBOL(sytrs)(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda,               \
                            const int* ipiv, T* b, const int* ldb, int* info, size_t);                                 \
  void LAPACK_SYMBOL(potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                  \
  void LAPACK_SYMBOL(potrs)(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, T* b,         \
                            const int* ldb, int* info, size_t);                                                        \
  void LAPACK_SYMBOL(trsm)(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,     \
                           const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb, size_t,     \
                           size_t, size_t, size_t);                                                                    \
  void LAPACK_SYMBOL(geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork,       \
                            int* info);                                                                                \
  void LAPACK_SYMBOL(orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,     \
                            const int* lwork, int* info);                                                              \
  void LAPACK_SYMBOL(gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u,            \
                            const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info,  \
                            size_t);                                                                                   \
  void LAPACK_SYMBOL(syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,     \
                            const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);               \
  void LAPACK_SYMBOL(gels)(const char* trans, const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, \
                           const int* ldb, T* work, const int* lwork, int* info, size_t);                              \
  void LAPACK_SYMBOL(gelsy)(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb,   \
                            int* jpvt, const T* rcond, int* rank, T* work, const int* lwork, int* info);               \
  void LAPACK_SYMBOL(gelsd)(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb,   \
                            T* s, const T* rcond, int* rank, T* work, const int* lwork, int* iwork, int* info);        \
  void LAPACK_SYMBOL(gelss)(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb,   \
                            T* s, const T* rcond, int* rank, T* work, const int* lwork, int* info);
extern "C" {
DECLARE_LAPACK(float, sgetrf_, sgetrs_, ssytrf_, ssytrs_, spotrf_, spotrs_, strsm_, sgeqrf_, sorgqr_, sgesdd_, ssyevd_,
               sgels_, sgelsy_, sgelsd_, sgelss_)
DECLARE_LAPACK(double, dgetrf_, dgetrs_, dsytrf_, dsytrs_, dpotrf_, dpotrs_, dtrsm_, dgeqrf_, dorgqr_, dgesdd_, dsyevd_,
               dgels_, dgelsy_, dgelsd_, dgelss_)
}
#undef DECLARE_LAPACK
// clang-format on

template <typename scalar_t>
struct lapack;

#define DEFINE_LAPACK(T, prefix)                                  \
  template <>                                                     \
  struct lapack<T> {                                              \
    static constexpr auto getrf = &LAPACK_SYMBOL(prefix##getrf_); \
    static constexpr auto getrs = &LAPACK_SYMBOL(prefix##getrs_); \
    static constexpr auto sytrf = &LAPACK_SYMBOL(prefix##sytrf_); \
    static constexpr auto sytrs = &LAPACK_SYMBOL(prefix##sytrs_); \
    static constexpr auto potrf = &LAPACK_SYMBOL(prefix##potrf_); \
    static constexpr auto potrs = &LAPACK_SYMBOL(prefix##potrs_); \
    static constexpr auto trsm = &LAPACK_SYMBOL(prefix##trsm_);   \
    static constexpr auto geqrf = &LAPACK_SYMBOL(prefix##geqrf_); \
    static constexpr auto orgqr = &LAPACK_SYMBOL(prefix##orgqr_); \
    static constexpr auto gesdd = &LAPACK_SYMBOL(prefix##gesdd_); \
    static constexpr auto syevd = &LAPACK_SYMBOL(prefix##syevd_); \
    static constexpr auto gels = &LAPACK_SYMBOL(prefix##gels_);   \
    static constexpr auto gelsy = &LAPACK_SYMBOL(prefix##gelsy_); \
    static constexpr auto gelsd = &LAPACK_SYMBOL(prefix##gelsd_); \
    static constexpr auto gelss = &LAPACK_SYMBOL(prefix##gelss_); \
  };
DEFINE_LAPACK(float, s)
DEFINE_LAPACK(double, d)
#undef DEFINE_LAPACK

} // namespace reftorch::at::native
