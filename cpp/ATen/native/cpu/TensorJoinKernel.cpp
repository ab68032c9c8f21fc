// Mirrors: aten/src/ATen/native/cpu/CatKernel.cpp
#include <ATen/native/TensorJoin.h>

#include <cstring>

namespace reftorch::at::native {
namespace {

void cat_serial_kernel(const Tensor& out, TensorList tensors, int64_t outer) {
  char* to = static_cast<char*>(out.data_ptr());
  for (int64_t o = 0; o < outer; o++) {
    for (const Tensor& t : tensors) {
      if (t.numel() > 0) {
        const int64_t length = t.numel() * static_cast<int64_t>(t.itemsize()) / outer;
        std::memcpy(to, static_cast<const char*>(t.data_ptr()) + o * length, length);
        to += length;
      }
    }
  }
}

} // namespace

REGISTER_CPU_DISPATCH(cat_serial_stub, cat_serial_kernel)

} // namespace reftorch::at::native
