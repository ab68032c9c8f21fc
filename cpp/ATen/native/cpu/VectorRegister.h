// Mirrors: aten/src/ATen/cpu/vec/vec_base.h
//
// Vectors as wide as a register of the processor, in the compiler's own terms: the operators +, * and so on compute all
// elements of a vector at once, without intrinsics. Which registers there are is for the caller to know. Left out:
// PyTorch's Vectorized<T>, a class with a method for each function of mathematics; the kernels here leave such loops to
// the compiler (Loops.h).
#pragma once

#include <cstdint>

namespace reftorch::at::native {

// A vector of elements of type T that together take `Bytes` bytes.
template <typename T, int Bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
  typedef T in_memory __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias)); // at any address
  static constexpr int64_t count = Bytes / sizeof(T);
};

// The vector that begins at the element p. The Debug build does not report the calls to call_tree, because a report
// takes longer than the sums of a kernel.
template <int Bytes, typename T>
__attribute__((always_inline, no_instrument_function)) inline const typename VectorOf<T, Bytes>::in_memory& vector_at(
    const T* p) {
  return *reinterpret_cast<const typename VectorOf<T, Bytes>::in_memory*>(p);
}
template <int Bytes, typename T>
__attribute__((always_inline, no_instrument_function)) inline typename VectorOf<T, Bytes>::in_memory& vector_at(T* p) {
  return *reinterpret_cast<typename VectorOf<T, Bytes>::in_memory*>(p);
}

} // namespace reftorch::at::native
