// Mirrors: aten/src/ATen/native/PointwiseOps.cpp, aten/src/ATen/native/Lerp.cpp
//
// Functions of three tensors, which take one pass where separate ops would take two; optimizers use them most.
#include <ATen/native/PointwiseOps.h>

#include <ATen/core/library.h>
#include <ATen/native/Fill.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(addcmul_stub)
DEFINE_DISPATCH(addcdiv_stub)
DEFINE_DISPATCH(lerp_kernel_scalar_weight)
DEFINE_DISPATCH(lerp_kernel_tensor_weight)

static TensorIterator ternary_op(Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c) {
  return TensorIteratorConfig()
      .add_output(out)
      .add_input(a)
      .add_input(b)
      .add_input(c)
      .promote_inputs_to_common_dtype(true)
      .allow_cpu_scalars(true)
      .build();
}

// out = self + value * tensor1 * tensor2
static void addcmul_out(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value,
                        Tensor& out) {
  auto iter = ternary_op(out, self, tensor1, tensor2);
  addcmul_stub(iter.device_type(), iter, value);
  iter.cast_outputs();
}

// out = self + value * tensor1 / tensor2
static void addcdiv_out(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value,
                        Tensor& out) {
  TORCH_CHECK(!(c10::isIntegralType(tensor1.scalar_type(), /*includeBool=*/true) &&
                c10::isIntegralType(tensor2.scalar_type(), /*includeBool=*/true)),
              "Integer division with addcdiv is no longer supported: expected floating tensors, got ",
              tensor1.scalar_type(), " and ", tensor2.scalar_type(),
              ". Hint: use input + value * torch.trunc(tensor1 / tensor2), or convert the tensors to floats first.");
  auto iter = ternary_op(out, self, tensor1, tensor2);
  addcdiv_stub(iter.device_type(), iter, value);
  iter.cast_outputs();
}

static void lerp_dtype_check(const Tensor& self, const Tensor& other, const char* name) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "expected dtype ", c10::dtypeName(self.scalar_type()),
              " for `", name, "` but got dtype ", c10::dtypeName(other.scalar_type()));
}

// out = self + weight * (end - self)
static void lerp_scalar_out(const Tensor& self, const Tensor& end, const Scalar& weight, Tensor& out) {
  lerp_dtype_check(self, end, "end");
  auto iter = TensorIterator::binary_op(out, self, end);
  lerp_kernel_scalar_weight(iter.device_type(), iter, weight);
  iter.cast_outputs();
}

static void lerp_tensor_out(const Tensor& self, const Tensor& end, const Tensor& weight, Tensor& out) {
  if (weight.dim() == 0 && weight.scalar_type() != self.scalar_type()) { // one number, which may have any dtype
    return lerp_scalar_out(self, end, number_for_kernel(weight), out);
  }
  lerp_dtype_check(self, end, "end");
  lerp_dtype_check(self, weight, "weight");
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(), "Found dtype ", out.scalar_type(),
              " but expected ", self.scalar_type());
  auto iter = ternary_op(out, self, end, weight);
  lerp_kernel_tensor_weight(iter.device_type(), iter);
  iter.cast_outputs();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                   TORCH_FN(addcmul_out), kernels(addcmul_stub), tags(Tag::pointwise));
  m.def_structured("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                   TORCH_FN(addcdiv_out), kernels(addcdiv_stub), tags(Tag::pointwise));
  m.def_structured("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", TORCH_FN(lerp_scalar_out),
                   kernels(lerp_kernel_scalar_weight), tags(Tag::pointwise));
  m.def_structured("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", TORCH_FN(lerp_tensor_out),
                   kernels(lerp_kernel_tensor_weight), tags(Tag::pointwise));
}

} // namespace reftorch::at::native
