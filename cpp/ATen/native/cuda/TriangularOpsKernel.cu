// Mirrors: aten/src/ATen/native/cuda/TriangularOps.cu
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/TriangularOps.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// self: (*batch, rows, cols), with any strides
template <typename scalar_t>
struct ZeroTriangleFunctor {
  char* data;
  OffsetCalculator<1> calculator;
  int64_t rows, cols, k;
  bool upper;
  __device__ void operator()(int64_t i) const {
    const int64_t row = i / cols % rows, col = i % cols;
    if (upper ? col - row < k : col - row > k) {
      int64_t offset;
      calculator.get(i, &offset);
      *reinterpret_cast<scalar_t*>(data + offset) = scalar_t(0);
    }
  }
};

void triu_tril_kernel_cuda(const Tensor& self, int64_t k, bool upper) {
  OffsetCalculator<1> calculator;
  for (int64_t d = self.dim() - 1; d >= 0; d--) {
    calculator.add_dim(self.size(d), [&](int) { return self.stride(d) * static_cast<int64_t>(self.itemsize()); });
  }
  dispatch<AllTypesAndBool>(self.scalar_type(), upper ? "triu" : "tril", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_for_each(self.device(), self.numel(),
                 ZeroTriangleFunctor<scalar_t>{static_cast<char*>(self.data_ptr()), calculator, self.size(-2),
                                               self.size(-1), k, upper});
  });
}

void trace_kernel_cuda(const Tensor& result, const Tensor& self) {
  Tensor out = result;
  at::copy_(out, at::sum(at::diagonal(self, 0, 0, 1)));
}

} // namespace

REGISTER_CUDA_DISPATCH(triu_tril_stub, triu_tril_kernel_cuda)
REGISTER_CUDA_DISPATCH(trace_stub, trace_kernel_cuda)

} // namespace reftorch::at::native
