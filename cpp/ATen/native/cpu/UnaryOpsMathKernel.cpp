// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions of real numbers from the C library: powers and logarithms of other bases, angles, hyperbolic functions,
// erf. The functions that have a fast version have it in VectorMathWide.h.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

void exp2_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "exp2_cpu", [](auto a) { return vec_exp2(a); });
}
void log2_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "log2_cpu", [](auto a) { return vec_log2(a); });
}
void log10_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "log10_cpu", [](auto a) { return vec_log10(a); });
}
void asin_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "asin_cpu", [](auto a) { return vec_asin(a); });
}
void acos_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "acos_cpu", [](auto a) { return vec_acos(a); });
}
void atan_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "atan_cpu", [](auto a) { return vec_atan(a); });
}
void sinh_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "sinh_cpu", [](auto a) { return vec_sinh(a); });
}
void cosh_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "cosh_cpu", [](auto a) { return vec_cosh(a); });
}
void asinh_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "asinh_cpu", [](auto a) { return vec_asinh(a); });
}
void acosh_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "acosh_cpu", [](auto a) { return vec_acosh(a); });
}
void atanh_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "atanh_cpu", [](auto a) { return vec_atanh(a); });
}
void erf_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "erf_cpu", [](auto a) { return vec_erf(a); });
}
void erfc_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "erfc_cpu", [](auto a) { return vec_erfc(a); });
}

constexpr double kDegreesPerRadian = 57.295779513082320876798154814105;
constexpr double kRadiansPerDegree = 0.01745329251994329576923690768489;

void deg2rad_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "deg2rad_cpu", [](auto a) { return a * static_cast<decltype(a)>(kRadiansPerDegree); });
}
void rad2deg_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "rad2deg_cpu", [](auto a) { return a * static_cast<decltype(a)>(kDegreesPerRadian); });
}

// The angle of a real number: 0, or pi if the number is negative.
void angle_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "angle_cpu", [](auto a) { return a != a ? a : static_cast<decltype(a)>(a < 0 ? M_PI : 0); });
}

} // namespace

REGISTER_CPU_DISPATCH(exp2_stub, exp2_kernel)
REGISTER_CPU_DISPATCH(log2_stub, log2_kernel)
REGISTER_CPU_DISPATCH(log10_stub, log10_kernel)
REGISTER_CPU_DISPATCH(asin_stub, asin_kernel)
REGISTER_CPU_DISPATCH(acos_stub, acos_kernel)
REGISTER_CPU_DISPATCH(atan_stub, atan_kernel)
REGISTER_CPU_DISPATCH(sinh_stub, sinh_kernel)
REGISTER_CPU_DISPATCH(cosh_stub, cosh_kernel)
REGISTER_CPU_DISPATCH(asinh_stub, asinh_kernel)
REGISTER_CPU_DISPATCH(acosh_stub, acosh_kernel)
REGISTER_CPU_DISPATCH(atanh_stub, atanh_kernel)
REGISTER_CPU_DISPATCH(erf_stub, erf_kernel)
REGISTER_CPU_DISPATCH(erfc_stub, erfc_kernel)
REGISTER_CPU_DISPATCH(angle_stub, angle_kernel)
REGISTER_CPU_DISPATCH(deg2rad_stub, deg2rad_kernel)
REGISTER_CPU_DISPATCH(rad2deg_stub, rad2deg_kernel)

} // namespace reftorch::at::native
