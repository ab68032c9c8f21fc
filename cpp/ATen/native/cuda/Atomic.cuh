// Mirrors: aten/src/ATen/cuda/Atomic.cuh
//
// Note [Atomic joins]
// Problem: many threads add to one place, and a thread that reads, adds and writes may overwrite what another thread
// has added meanwhile. CUDA has atomic additions, but not for each type and not for each operation. Trick: a thread
// computes the new value and writes it by atomicCAS, which writes only if the place still has the value that the thread
// has read; otherwise the thread tries again with the new one. An element of one or two bytes is joined within the word
// of four bytes around it. Limit: the order of the joins differs from run to run, and so do the last digits of sums.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/util/Load.h>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace reftorch::at::native {

// *place = join(*place, value), as one operation. `join` computes in opmath_type<T>.
template <typename T, typename Join>
__device__ void atomic_join(T* place, T value, const Join& join) {
  using opmath_t = opmath_type<T>;
  using word_t = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  static_assert(sizeof(T) <= sizeof(word_t), "an element must fit into a word that atomicCAS knows");
  const uintptr_t address = reinterpret_cast<uintptr_t>(place);
  const unsigned within = static_cast<unsigned>(address % sizeof(word_t)); // where the element is in its word
  auto* const word = reinterpret_cast<word_t*>(address - within);
  word_t seen = *const_cast<volatile word_t*>(word);
  while (true) {
    T old;
    std::memcpy(&old, reinterpret_cast<const char*>(&seen) + within, sizeof(T));
    const T joined = static_cast<T>(join(opmath_t(c10::load(&old)), opmath_t(value)));
    word_t wanted = seen;
    std::memcpy(reinterpret_cast<char*>(&wanted) + within, &joined, sizeof(T));
    const word_t found = atomicCAS(word, seen, wanted);
    if (found == seen) {
      return;
    }
    seen = found;
  }
}

// The sum as a join.
struct AddNumbers {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};

} // namespace reftorch::at::native
