// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Special functions of one number.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnarySpecialOpsFunctors.h>
#include <ATen/native/cpu/TwoRungs.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// The quick version is right for every float, and for doubles that are not too close to -1 and 1.
void erfinv_kernel(TensorIterator& iter) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), "erfinv_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a) { return std::is_same_v<opmath_t, float> || std::fabs(a) <= kLargestErfinv; },
        [](opmath_t a) -> opmath_t { return vec_erfinv(a); }, ErfinvFunctor<scalar_t>());
  });
}

} // namespace

REGISTER_CPU_ELEMENTWISE(logit_stub, logit_kernel, LogitFunctor, "logit_cpu")
REGISTER_CPU_ELEMENTWISE(sinc_stub, sinc_kernel, SincFunctor, "sinc_cpu")
REGISTER_CPU_DISPATCH(erfinv_stub, erfinv_kernel)
REGISTER_CPU_ELEMENTWISE(lgamma_stub, lgamma_kernel, LgammaFunctor, "lgamma_cpu")
REGISTER_CPU_ELEMENTWISE(digamma_stub, digamma_kernel, DigammaFunctor, "digamma_cpu")
REGISTER_CPU_ELEMENTWISE(polygamma_stub, polygamma_kernel, PolygammaFunctor, "polygamma_cpu")
REGISTER_CPU_ELEMENTWISE(mvlgamma_stub, mvlgamma_kernel, MvlgammaFunctor, "mvlgamma_cpu")
REGISTER_CPU_ELEMENTWISE(i0_stub, i0_kernel, I0Functor, "i0_cpu")
REGISTER_CPU_ELEMENTWISE(special_i0e_stub, special_i0e_kernel, I0eFunctor, "i0e_cpu")
REGISTER_CPU_ELEMENTWISE(special_i1_stub, special_i1_kernel, I1Functor, "i1_cpu")
REGISTER_CPU_ELEMENTWISE(special_i1e_stub, special_i1e_kernel, I1eFunctor, "i1e_cpu")
REGISTER_CPU_ELEMENTWISE(special_entr_stub, special_entr_kernel, EntrFunctor, "entr_cpu")
REGISTER_CPU_ELEMENTWISE(special_erfcx_stub, special_erfcx_kernel, ErfcxFunctor, "erfcx_cpu")
REGISTER_CPU_ELEMENTWISE(special_log_ndtr_stub, special_log_ndtr_kernel, LogNdtrFunctor, "log_ndtr_cpu")
REGISTER_CPU_ELEMENTWISE(special_ndtri_stub, special_ndtri_kernel, NdtriFunctor, "ndtri_cpu")

} // namespace reftorch::at::native
