// Mirrors: aten/src/ATen/native/Loss.cpp, aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp (mse, smooth_l1, huber)
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinaryOpsFunctors.h>
#include <ATen/native/Loss.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/PointwiseOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

#include <atomic>

namespace reftorch::at::native {
namespace {

// The loop only notes an input or a target outside of [0, 1], and the error is raised after the loop: an exception
// cannot leave a function that GCC has cloned (TARGET_CLONES).
void binary_cross_entropy_kernel(TensorIterator& iter) {
  std::atomic<bool> wrong_input = false, wrong_target = false;
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "binary_cross_entropy", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [&wrong_input, &wrong_target](opmath_t x, opmath_t y) -> opmath_t {
      if (!(x >= 0 && x <= 1)) {
        wrong_input.store(true, std::memory_order_relaxed);
      }
      if (!(y >= 0 && y <= 1)) {
        wrong_target.store(true, std::memory_order_relaxed);
      }
      return BinaryCrossEntropyFunctor<scalar_t>()(x, y);
    });
  });
  TORCH_CHECK(!wrong_input, "all elements of input should be between 0 and 1");
  TORCH_CHECK(!wrong_target, "all elements of target should be between 0 and 1");
}

} // namespace

REGISTER_CPU_ELEMENTWISE(mse_backward_stub, mse_backward_kernel, MseBackwardFunctor, "mse_backward_cpu")
REGISTER_CPU_DISPATCH(binary_cross_entropy_stub, binary_cross_entropy_kernel)
REGISTER_CPU_ELEMENTWISE(smooth_l1_stub, smooth_l1_kernel, SmoothL1Functor, "smooth_l1_cpu")
REGISTER_CPU_ELEMENTWISE(smooth_l1_backward_stub, smooth_l1_backward_kernel, SmoothL1BackwardFunctor,
                         "smooth_l1_backward_cpu_out")
REGISTER_CPU_ELEMENTWISE(huber_stub, huber_kernel, HuberFunctor, "huber_cpu")
REGISTER_CPU_ELEMENTWISE(huber_backward_stub, huber_backward_kernel, HuberBackwardFunctor, "huber_backward_cpu_out")
REGISTER_CPU_ELEMENTWISE(binary_cross_entropy_backward_stub, binary_cross_entropy_backward_kernel,
                         BinaryCrossEntropyBackwardFunctor, "binary_cross_entropy_backward")

} // namespace reftorch::at::native
