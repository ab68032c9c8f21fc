// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions of real numbers that models use most; the rest is in UnaryOpsMathKernel.cpp. The iterator has converted
// integers to floats. The 16-bit floats are computed in float.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cpu/TwoRungs.h>

namespace reftorch::at::native {
namespace {

// The quick version is right for angles up to kLargestAngle; larger angles take the version of the C library.
template <template <typename> class Functor, typename Quick>
void angle_function_kernel(TensorIterator& iter, const char* name, const Quick& quick) {
  dispatch<typename Functor<float>::dtypes>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a) { return std::fabs(a) <= kLargestAngle; },
        [quick](opmath_t a) -> opmath_t { return quick(a); }, Functor<scalar_t>());
  });
}

void sin_kernel(TensorIterator& iter) {
  angle_function_kernel<SinFunctor>(iter, "sin_cpu", [](auto a) { return vec_sin(a); });
}
void cos_kernel(TensorIterator& iter) {
  angle_function_kernel<CosFunctor>(iter, "cos_cpu", [](auto a) { return vec_cos(a); });
}
void tan_kernel(TensorIterator& iter) {
  angle_function_kernel<TanFunctor>(iter, "tan_cpu", [](auto a) { return vec_tan(a); });
}

} // namespace

REGISTER_CPU_ELEMENTWISE(sqrt_stub, sqrt_kernel, SqrtFunctor, "sqrt_cpu")
REGISTER_CPU_ELEMENTWISE(rsqrt_stub, rsqrt_kernel, RsqrtFunctor, "rsqrt_cpu")
REGISTER_CPU_ELEMENTWISE(reciprocal_stub, reciprocal_kernel, ReciprocalFunctor, "reciprocal_cpu")
REGISTER_CPU_ELEMENTWISE(exp_stub, exp_kernel, ExpFunctor, "exp_cpu")
REGISTER_CPU_ELEMENTWISE(expm1_stub, expm1_kernel, Expm1Functor, "expm1_cpu")
REGISTER_CPU_ELEMENTWISE(log_stub, log_kernel, LogFunctor, "log_cpu")
REGISTER_CPU_ELEMENTWISE(log1p_stub, log1p_kernel, Log1pFunctor, "log1p_cpu")
REGISTER_CPU_DISPATCH(sin_stub, sin_kernel)
REGISTER_CPU_DISPATCH(cos_stub, cos_kernel)
REGISTER_CPU_DISPATCH(tan_stub, tan_kernel)
REGISTER_CPU_ELEMENTWISE(tanh_stub, tanh_kernel, TanhFunctor, "tanh_cpu")
REGISTER_CPU_ELEMENTWISE(sigmoid_stub, sigmoid_kernel, SigmoidFunctor, "sigmoid_cpu")

} // namespace reftorch::at::native
