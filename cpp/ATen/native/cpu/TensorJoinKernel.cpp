// Mirrors: aten/src/ATen/native/cpu/CatKernel.cpp
#include <ATen/native/TensorJoin.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

namespace reftorch::at::native {
namespace {

void cat_serial_kernel(const Tensor& out, TensorList tensors, int64_t outer) {
  char* to = static_cast<char*>(out.data_ptr());
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  const int64_t total = out.numel() * itemsize, row = total / outer;
  // Writes the bytes [lo, hi) of the result, which may begin and end inside a tensor.
  const auto write = [&](int64_t lo, int64_t hi) {
    for (int64_t o = lo / row; o * row < hi; o++) {
      int64_t begin = o * row;
      for (const Tensor& t : tensors) {
        const int64_t length = t.numel() * itemsize / outer;
        const int64_t first = std::max(begin, lo), last = std::min(begin + length, hi);
        if (first < last) {
          std::memcpy(to + first, static_cast<const char*>(t.data_ptr()) + o * length + (first - begin), last - first);
        }
        begin += length;
      }
    }
  };
  if (out.numel() <= internal::GRAIN_SIZE) {
    write(0, total);
  } else {
    parallel_for(0, total, internal::GRAIN_SIZE * itemsize, write);
  }
}

} // namespace

REGISTER_CPU_DISPATCH(cat_serial_stub, cat_serial_kernel)

} // namespace reftorch::at::native
