// Mirrors: c10/macros/Macros.h
// Marks for functions that a GPU's kernels call, too. Left out: every other macro of PyTorch's file.
#pragma once

// nvcc compiles a function with this mark for the host and for the GPU. Every other compiler reads nothing, also the
// one that compiles the kernels for the simulator (c10/cuda/sim).
#if defined(__CUDACC__)
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif
