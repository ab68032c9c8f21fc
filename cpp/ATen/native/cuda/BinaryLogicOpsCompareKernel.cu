// Mirrors: aten/src/ATen/native/cuda/CompareKernels.cu, aten/src/ATen/native/cuda/CompareEQKernel.cu
//
// The six comparisons. One functor serves all of them, so that the kernel is compiled once for each dtype.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

enum class Comparison { EQ, NE, LT, LE, GT, GE };

template <typename opmath_t>
struct CompareFunctor {
  Comparison comparison;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    switch (comparison) {
      case Comparison::EQ: return a == b;
      case Comparison::NE: return a != b;
      case Comparison::LT: return a < b;
      case Comparison::LE: return a <= b;
      case Comparison::GT: return a > b;
      default: return a >= b;
    }
  }
};

// The inputs have one dtype; the output is bool.
template <Comparison comparison>
void comparison_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), "compare_cuda", [&] {
    gpu_kernel<scalar_t>(iter, CompareFunctor<opmath_type<scalar_t>>{comparison});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(eq_stub, comparison_kernel_cuda<Comparison::EQ>)
REGISTER_CUDA_DISPATCH(ne_stub, comparison_kernel_cuda<Comparison::NE>)
REGISTER_CUDA_DISPATCH(lt_stub, comparison_kernel_cuda<Comparison::LT>)
REGISTER_CUDA_DISPATCH(le_stub, comparison_kernel_cuda<Comparison::LE>)
REGISTER_CUDA_DISPATCH(gt_stub, comparison_kernel_cuda<Comparison::GT>)
REGISTER_CUDA_DISPATCH(ge_stub, comparison_kernel_cuda<Comparison::GE>)

} // namespace reftorch::at::native
