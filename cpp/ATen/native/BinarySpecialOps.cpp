// Mirrors: aten/src/ATen/native/BinaryOps.cpp (igamma, igammac, special_zeta, special_xlog1py)
//
// Special functions of two tensors. The orthogonal polynomials are in PolynomialOps.cpp.
#include <ATen/native/BinaryOps.h>

#include <ATen/EmptyTensor.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(igamma_stub)
DEFINE_DISPATCH(igammac_stub)
DEFINE_DISPATCH(special_zeta_stub)
DEFINE_DISPATCH(special_xlog1py_stub)

// Integers give a result of the default float dtype.
template <auto& stub>
static void special_binary_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_float_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

template <auto& stub>
static Tensor special_of_scalar(const Scalar& self, const Tensor& other) {
  Tensor out;
  special_binary_op_out<stub>(detail::wrapped_scalar_tensor(self), other, out);
  return out;
}
template <auto& stub>
static Tensor& special_of_scalar_out(const Scalar& self, const Tensor& other, Tensor& out) {
  special_binary_op_out<stub>(detail::wrapped_scalar_tensor(self), other, out);
  return out;
}
template <auto& stub>
static void special_by_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  special_binary_op_out<stub>(self, detail::wrapped_scalar_tensor(other), out);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int SPECIAL = variants::SPECIAL;
  m.def_structured("igamma(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<igamma_stub>),
                   kernels(igamma_stub), tags(Tag::pointwise));
  m.def_structured("igammac(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<igammac_stub>),
                   kernels(igammac_stub), tags(Tag::pointwise));
  m.def_structured("special_zeta(Tensor self, Tensor other) -> Tensor",
                   TORCH_FN(special_binary_op_out<special_zeta_stub>), kernels(special_zeta_stub), tags(Tag::pointwise),
                   derive::OUT, SPECIAL);
  m.def("special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", TORCH_FN(special_of_scalar<special_zeta_stub>),
        kernels(special_zeta_stub), tags(Tag::pointwise), SPECIAL);
  m.def("special_zeta.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(special_of_scalar_out<special_zeta_stub>), kernels(special_zeta_stub), SPECIAL);
  m.def_structured("special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(special_by_scalar_out<special_zeta_stub>), kernels(special_zeta_stub), tags(Tag::pointwise),
                   derive::OUT, SPECIAL);
  m.def_structured("special_xlog1py(Tensor self, Tensor other) -> Tensor",
                   TORCH_FN(special_binary_op_out<special_xlog1py_stub>), kernels(special_xlog1py_stub),
                   tags(Tag::pointwise), derive::OUT, SPECIAL);
  m.def("special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
        TORCH_FN(special_of_scalar<special_xlog1py_stub>), kernels(special_xlog1py_stub), tags(Tag::pointwise),
        SPECIAL);
  m.def("special_xlog1py.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(special_of_scalar_out<special_xlog1py_stub>), kernels(special_xlog1py_stub), SPECIAL);
  m.def_structured("special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(special_by_scalar_out<special_xlog1py_stub>), kernels(special_xlog1py_stub),
                   tags(Tag::pointwise), derive::OUT, SPECIAL);
}

} // namespace reftorch::at::native
