// Mirrors: aten/src/ATen/native/BinaryOps.cpp
// Two tensors compared, combined as truth values, or bit by bit. Left out: shifts.
#include <ATen/native/BinaryOps.h>

#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(bitwise_and_stub)
DEFINE_DISPATCH(bitwise_or_stub)
DEFINE_DISPATCH(bitwise_xor_stub)
DEFINE_DISPATCH(logical_and_stub)
DEFINE_DISPATCH(logical_or_stub)
DEFINE_DISPATCH(logical_xor_stub)
DEFINE_DISPATCH(eq_stub)
DEFINE_DISPATCH(ne_stub)
DEFINE_DISPATCH(lt_stub)
DEFINE_DISPATCH(le_stub)
DEFINE_DISPATCH(gt_stub)
DEFINE_DISPATCH(ge_stub)

// Compared in the promoted dtype; the result is bool.
template <auto& stub>
static void comparison_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::comparison_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

template <auto& stub>
static void bitwise_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static Tensor as_bool(const Tensor& t) {
  return t.scalar_type() == kBool ? t : cast_to_dtype(t, kBool);
}

// Every number but zero counts as true, so the kernels see bool only.
template <auto& stub>
static void logical_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  const Tensor a = as_bool(self), b = as_bool(other);
  auto iter = TensorIterator::comparison_op(out, a, b);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("eq.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<eq_stub>));
  m.def_structured("ne.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<ne_stub>));
  m.def_structured("lt.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<lt_stub>));
  m.def_structured("le.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<le_stub>));
  m.def_structured("gt.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<gt_stub>));
  m.def_structured("ge.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(comparison_op_out<ge_stub>));
  m.def_structured("logical_and(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_and_stub>));
  m.def_structured("logical_or(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_or_stub>));
  m.def_structured("logical_xor(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_xor_stub>));
  m.def_structured("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
                   TORCH_FN(bitwise_op_out<bitwise_and_stub>));
  m.def_structured("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(bitwise_op_out<bitwise_or_stub>));
  m.def_structured("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
                   TORCH_FN(bitwise_op_out<bitwise_xor_stub>));
}

} // namespace reftorch::at::native
