// Mirrors: c10/macros/Macros.h
//
// The mark for functions that GPU kernels call, too. Left out: every other macro of PyTorch's file.
#pragma once

// nvcc compiles a function with this mark for the host and for the GPU. For every other compiler the mark is empty,
// also for the compiler that builds the kernels for the simulator (c10/cuda/sim).
#if defined(__CUDACC__)
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif
