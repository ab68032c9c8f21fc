// Mirrors: c10/macros/Macros.h
//
// Marks for functions and classes that GPU kernels use. Left out: every other macro of PyTorch's file.
#pragma once

// nvcc compiles a function with this mark for the host and for the GPU. For every other compiler the mark is empty,
// also for the compiler that builds the kernels for the simulator (c10/cuda/sim).
#if defined(__CUDACC__)
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif

// The functions that make a class of one member trivial, as C++ itself provides them. In kernels that are watched, the
// class is copied by functions with a body: see Note [Stores of what a call returns].
#if defined(CUDA_SIM_WATCHED)
#define C10_TRIVIAL_UNLESS_WATCHED(T, member)                                          \
  T() = default;                                                                       \
  __attribute__((always_inline)) constexpr T(const T& other) : member(other.member) {} \
  __attribute__((always_inline)) constexpr T& operator=(const T& other) {              \
    member = other.member;                                                             \
    return *this;                                                                      \
  }                                                                                    \
  static_assert(true)
#else
#define C10_TRIVIAL_UNLESS_WATCHED(T, member) T() = default
#endif
