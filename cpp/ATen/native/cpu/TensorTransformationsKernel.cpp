// Mirrors: aten/src/ATen/native/cpu/IndexKernel.cpp (flip_kernel)
#include <ATen/native/DispatchSize.h>
#include <ATen/native/TensorTransformations.h>
#include <ATen/native/cpu/Loops.h>

#include <cstring>

namespace reftorch::at::native {
namespace {

template <typename T>
TARGET_CLONES static void reverse_row(T* out, const T* in, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = in[n - 1 - i];
  }
}

// out, in: (outer, n, inner). T is any type of the size of an element, because a move depends on nothing else.
template <typename T>
void reverse_rows(T* out, const T* in, int64_t outer, int64_t n, int64_t inner) {
  for (int64_t o = 0; o < outer; o++) {
    if (inner == 1) {
      reverse_row(out + o * n, in + o * n, n);
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      std::memcpy(out + (o * n + i) * inner, in + (o * n + n - 1 - i) * inner, inner * sizeof(T));
    }
  }
}

void flip_kernel(const Tensor& out, const Tensor& in, DimShape shape) {
  dispatch_size(in.itemsize(), [&](auto element) {
    using T = decltype(element);
    reverse_rows(static_cast<T*>(out.data_ptr()), static_cast<const T*>(in.data_ptr()), shape.outer, shape.n,
                 shape.inner);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(flip_stub, flip_kernel)

} // namespace reftorch::at::native
