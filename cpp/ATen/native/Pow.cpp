// Mirrors: aten/src/ATen/native/Pow.cpp
//
// Powers. Left out: complex numbers, float_power.
#include <ATen/native/Pow.h>

#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Copy.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(pow_tensor_tensor_stub)
DEFINE_DISPATCH(pow_tensor_scalar_stub)

// out = self ^ exponent for each element.
static void pow_tensor_tensor_out(const Tensor& self, const Tensor& exponent, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, exponent);
  pow_tensor_tensor_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static void pow_tensor_scalar_out(const Tensor& self, const Scalar& exponent, Tensor& out) {
  TORCH_CHECK(!(c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) &&
                exponent.isIntegral(/*includeBool=*/true) && exponent.toLong() < 0),
              "Integers to negative integer powers are not allowed.");
  const ScalarType dtype = result_type(self, detail::wrapped_scalar_tensor(exponent));
  const Tensor base = self.scalar_type() == dtype ? self : cast_to_dtype(self, dtype);
  auto iter = TensorIterator::unary_op(out, base);
  if (exponent.equal(0)) {
    at::fill_(out, 1); // also for 0^0 and NaN^0
    return;
  }
  if (exponent.equal(1)) {
    copy_stub(iter.device_type(), iter, /*non_blocking=*/false);
  } else {
    pow_tensor_scalar_stub(iter.device_type(), iter, exponent);
  }
  iter.cast_outputs();
}

static Tensor pow_scalar(const Scalar& self, const Tensor& exponent) {
  const Tensor base = detail::wrapped_scalar_tensor(self);
  // The result is contiguous whatever the strides of exponent are; in PyTorch only this overload does so.
  Tensor out = detail::empty_generic(exponent.sizes(), result_type(base, exponent), exponent.device());
  pow_tensor_tensor_out(base, exponent, out);
  return out;
}

static Tensor& pow_scalar_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  pow_tensor_tensor_out(detail::wrapped_scalar_tensor(self), exponent, out);
  return out;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", TORCH_FN(pow_tensor_tensor_out),
                   kernels(pow_tensor_tensor_stub), tags(Tag::pointwise));
  m.def_structured("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", TORCH_FN(pow_tensor_scalar_out),
                   kernels(pow_tensor_scalar_stub, copy_stub), tags(Tag::pointwise));
  m.def("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", TORCH_FN(pow_scalar), kernels(pow_tensor_tensor_stub),
        tags(Tag::pointwise), variants::FUNCTION);
  m.def_out("pow.Scalar", TORCH_FN(pow_scalar_out), kernels(pow_tensor_tensor_stub));
}

} // namespace reftorch::at::native
