// Mirrors: torch/csrc/cuda/CUDAPluggableAllocator.h
//
// An allocator of CUDA memory that a program brings along, as two C functions of a library. Left out: what PyTorch asks
// of such an allocator through further functions (snapshots, streams, limits); they raise an Error.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <sys/types.h>

namespace reftorch::torch::cuda {

// Return memory of a device for a stream, and take it back.
using AllocFn = void* (*)(ssize_t size, int device, cudaStream_t stream);
using FreeFn = void (*)(void* ptr, ssize_t size, int device, cudaStream_t stream);

// Makes an allocator, which is never destroyed, because it may own memory until the process ends.
c10::cuda::CUDACachingAllocator::CUDAAllocator* createCustomAllocator(AllocFn alloc_fn, FreeFn free_fn);

} // namespace reftorch::torch::cuda
