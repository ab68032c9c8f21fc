// Mirrors: aten/src/ATen/native/BinaryOps.cpp
//
// Compares two tensors, combines them as truth values, or combines them bit by bit.
#include <ATen/native/BinaryOps.h>

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(bitwise_and_stub)
DEFINE_DISPATCH(bitwise_or_stub)
DEFINE_DISPATCH(bitwise_xor_stub)
DEFINE_DISPATCH(lshift_stub)
DEFINE_DISPATCH(rshift_stub)
DEFINE_DISPATCH(logical_and_stub)
DEFINE_DISPATCH(logical_or_stub)
DEFINE_DISPATCH(logical_xor_stub)
DEFINE_DISPATCH(eq_stub)
DEFINE_DISPATCH(ne_stub)
DEFINE_DISPATCH(lt_stub)
DEFINE_DISPATCH(le_stub)
DEFINE_DISPATCH(gt_stub)
DEFINE_DISPATCH(ge_stub)

// Compares in the promoted dtype; the result is bool.
template <auto& stub>
static void comparison_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::comparison_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static Tensor as_bool(const Tensor& t) {
  return t.scalar_type() == kBool ? t : cast_to_dtype(t, kBool);
}

// Casts the operands to bool first (every number but zero is true), so that the kernels work on bool alone.
template <auto& stub>
static void logical_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (out.defined()) { // before the operands are cast: a cast copy overlaps nothing
    assert_no_internal_overlap(out);
    assert_no_partial_overlap(out, self);
    assert_no_partial_overlap(out, other);
  }
  const Tensor a = as_bool(self), b = as_bool(other);
  if (out.defined() && out.is_same(self)) { // in place, but the iterator sees a copy of self
    TORCH_CHECK(IntArrayRef(infer_size_dimvector(self.sizes(), other.sizes())) == self.sizes(), "output with shape ",
                self.sizes(), " doesn't match the broadcast shape ",
                IntArrayRef(infer_size_dimvector(self.sizes(), other.sizes())));
  }
  if (!out.defined() && !(self.is_contiguous() && other.is_contiguous())) {
    // allocates the result with the strides that the operands give, not those of their copies
    TensorIterator::comparison_op(out, self, other);
  }
  auto iter = TensorIterator::comparison_op(out, a, b);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

template <auto& stub>
static void def_comparison(Library& m, const char* tensor_schema, const char* scalar_schema) {
  m.def_structured(tensor_schema, TORCH_FN(comparison_op_out<stub>), kernels(stub), tags(Tag::pointwise));
  m.def_structured(scalar_schema, TORCH_FN(tensor_scalar_out<comparison_op_out<stub>>), kernels(stub),
                   tags(Tag::pointwise));
}

// `scalar` is PyTorch's name of the overload whose second operand is a number.
template <auto& stub>
static void def_bitwise(Library& m, const std::string& name, const std::string& scalar) {
  m.def_structured(name + ".Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<stub>), kernels(stub),
                   tags(Tag::pointwise));
  m.def_structured(name + "." + scalar + "(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(tensor_scalar_out<binary_op_out<stub>>), kernels(stub), tags(Tag::pointwise));
  m.def_structured(name + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
                   TORCH_FN(scalar_tensor_out<binary_op_out<stub>>), kernels(stub), tags(Tag::pointwise), derive::NONE,
                   variants::FUNCTION);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  def_comparison<eq_stub>(m, "eq.Tensor(Tensor self, Tensor other) -> Tensor",
                          "eq.Scalar(Tensor self, Scalar other) -> Tensor");
  def_comparison<ne_stub>(m, "ne.Tensor(Tensor self, Tensor other) -> Tensor",
                          "ne.Scalar(Tensor self, Scalar other) -> Tensor");
  m.def_alias("not_equal", "ne");
  def_comparison<lt_stub>(m, "lt.Tensor(Tensor self, Tensor other) -> Tensor",
                          "lt.Scalar(Tensor self, Scalar other) -> Tensor");
  m.def_alias("less", "lt");
  def_comparison<le_stub>(m, "le.Tensor(Tensor self, Tensor other) -> Tensor",
                          "le.Scalar(Tensor self, Scalar other) -> Tensor");
  m.def_alias("less_equal", "le");
  def_comparison<gt_stub>(m, "gt.Tensor(Tensor self, Tensor other) -> Tensor",
                          "gt.Scalar(Tensor self, Scalar other) -> Tensor");
  m.def_alias("greater", "gt");
  def_comparison<ge_stub>(m, "ge.Tensor(Tensor self, Tensor other) -> Tensor",
                          "ge.Scalar(Tensor self, Scalar other) -> Tensor");
  m.def_alias("greater_equal", "ge");
  m.def_structured("logical_and(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_and_stub>),
                   kernels(logical_and_stub), tags(Tag::pointwise));
  m.def_structured("logical_or(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_or_stub>),
                   kernels(logical_or_stub), tags(Tag::pointwise));
  m.def_structured("logical_xor(Tensor self, Tensor other) -> Tensor", TORCH_FN(logical_op_out<logical_xor_stub>),
                   kernels(logical_xor_stub), tags(Tag::pointwise));
  def_bitwise<bitwise_and_stub>(m, "bitwise_and", "Scalar");
  def_bitwise<bitwise_or_stub>(m, "bitwise_or", "Scalar");
  def_bitwise<bitwise_xor_stub>(m, "bitwise_xor", "Scalar");
  def_bitwise<lshift_stub>(m, "bitwise_left_shift", "Tensor_Scalar");
  def_bitwise<rshift_stub>(m, "bitwise_right_shift", "Tensor_Scalar");
}

} // namespace reftorch::at::native
