// Mirrors: nothing in PyTorch: stands in for the CUDA headers vector_types.h and vector_functions.h
//
// The short vectors of CUDA, with CUDA's sizes and alignments, and make_float4(x, y, z, w) and its kin. Kernels use
// them to load and store up to 16 bytes with one instruction.
#pragma once

// In kernels that are watched, a function assigns a vector, as one access of its bytes. See Note [Stores of what a call
// returns].
#if defined(CUDA_SIM_WATCHED)
#define CUDA_SIM_WATCHED_ASSIGNMENT(name)                                    \
  name& operator=(const name& other) {                                       \
    struct alignas(alignof(name)) Bytes {                                    \
      unsigned char all[sizeof(name)];                                       \
    };                                                                       \
    *reinterpret_cast<Bytes*>(this) = reinterpret_cast<const Bytes&>(other); \
    return *this;                                                            \
  }
#else
#define CUDA_SIM_WATCHED_ASSIGNMENT(name)
#endif

// A vector of three elements is aligned as one element, because its size must be a multiple of its alignment.
#define CUDA_SIM_VECTORS_OF(T, name, align1, align2, align4) \
  struct alignas(align1) name##1 {                           \
    T x;                                                     \
    CUDA_SIM_WATCHED_ASSIGNMENT(name##1)                     \
  };                                                         \
  struct alignas(align2) name##2 {                           \
    T x, y;                                                  \
    CUDA_SIM_WATCHED_ASSIGNMENT(name##2)                     \
  };                                                         \
  struct alignas(align1) name##3 {                           \
    T x, y, z;                                               \
    CUDA_SIM_WATCHED_ASSIGNMENT(name##3)                     \
  };                                                         \
  struct alignas(align4) name##4 {                           \
    T x, y, z, w;                                            \
    CUDA_SIM_WATCHED_ASSIGNMENT(name##4)                     \
  };                                                         \
  inline name##1 make_##name##1(T x) {                       \
    return {x};                                              \
  }                                                          \
  inline name##2 make_##name##2(T x, T y) {                  \
    return {x, y};                                           \
  }                                                          \
  inline name##3 make_##name##3(T x, T y, T z) {             \
    return {x, y, z};                                        \
  }                                                          \
  inline name##4 make_##name##4(T x, T y, T z, T w) {        \
    return {x, y, z, w};                                     \
  }

CUDA_SIM_VECTORS_OF(signed char, char, 1, 2, 4)
CUDA_SIM_VECTORS_OF(unsigned char, uchar, 1, 2, 4)
CUDA_SIM_VECTORS_OF(short, short, 2, 4, 8)
CUDA_SIM_VECTORS_OF(unsigned short, ushort, 2, 4, 8)
CUDA_SIM_VECTORS_OF(int, int, 4, 8, 16)
CUDA_SIM_VECTORS_OF(unsigned, uint, 4, 8, 16)
CUDA_SIM_VECTORS_OF(long, long, 8, 16, 16)
CUDA_SIM_VECTORS_OF(unsigned long, ulong, 8, 16, 16)
CUDA_SIM_VECTORS_OF(long long, longlong, 8, 16, 16)
CUDA_SIM_VECTORS_OF(unsigned long long, ulonglong, 8, 16, 16)
CUDA_SIM_VECTORS_OF(float, float, 4, 8, 16)
CUDA_SIM_VECTORS_OF(double, double, 8, 16, 16)
#undef CUDA_SIM_VECTORS_OF
#undef CUDA_SIM_WATCHED_ASSIGNMENT
