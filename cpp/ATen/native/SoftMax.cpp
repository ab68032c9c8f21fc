// Mirrors: aten/src/ATen/native/SoftMax.cpp
//
// softmax(x)_i = e^x_i / sum_j e^x_j along one dimension, the logarithm of softmax, and the backward of both. Left out:
// masked softmax, softmin.
#include <ATen/native/SoftMax.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(softmax_kernel)
DEFINE_DISPATCH(log_softmax_kernel)
DEFINE_DISPATCH(softmax_backward_kernel)
DEFINE_DISPATCH(log_softmax_backward_kernel)

static Tensor prepare_output(const Tensor& self, Tensor& out) {
  if (!out.defined()) {
    out = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  }
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
              c10::dtypeName(self.scalar_type()), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  resize_output(out, self.sizes());
  return out.is_contiguous() ? out : detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
}

template <auto& stub>
static void softmax_out(const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported on CPU");
  dim = maybe_wrap_dim(dim, self.dim());
  const Tensor result = prepare_output(self, out), input = self.contiguous();
  if (self.numel() != 0) {
    stub(self.device().type(), result, input, shape_around(input, dim));
  }
  if (!result.is_same(out)) {
    at::copy_(out, result);
  }
}

template <auto& stub>
static void softmax_backward_out(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype,
                                 Tensor& grad_input) {
  TORCH_CHECK(grad_output.sizes() == output.sizes(), "softmax backward: expected grad_output of shape ", output.sizes(),
              ", got ", grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == output.scalar_type() && input_dtype == output.scalar_type(),
              "softmax backward: expected grad_output and output of dtype ", c10::dtypeName(input_dtype), ", got ",
              c10::dtypeName(grad_output.scalar_type()), " and ", c10::dtypeName(output.scalar_type()));
  dim = maybe_wrap_dim(dim, output.dim());
  const Tensor grad = grad_output.contiguous(), y = output.contiguous();
  grad_input = detail::empty_generic(y.sizes(), y.scalar_type(), y.device());
  if (y.numel() != 0) {
    stub(y.device().type(), grad_input, grad, y, shape_around(y, dim));
  }
}

static Tensor converted(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.has_value() && *dtype != self.scalar_type() ? at::to(self, *dtype) : self;
}

static Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_softmax(converted(self, dtype), dim, /*half_to_float=*/false);
}

static Tensor& softmax_int_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  return at::_softmax_out(out, converted(self, dtype), dim, /*half_to_float=*/false);
}

static Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_log_softmax(converted(self, dtype), dim, /*half_to_float=*/false);
}

static Tensor& log_softmax_int_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  return at::_log_softmax_out(out, converted(self, dtype), dim, /*half_to_float=*/false);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", TORCH_FN(softmax));
  m.def_composite("softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(softmax_int_out), variants::FUNCTION);
  m.def_structured("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                   TORCH_FN(softmax_out<softmax_kernel>), kernels(softmax_kernel), derive::OUT, variants::FUNCTION);
  m.def_structured(
      "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
      TORCH_FN(softmax_backward_out<softmax_backward_kernel>), kernels(softmax_backward_kernel), derive::NONE,
      variants::FUNCTION);
  m.def_composite("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", TORCH_FN(log_softmax));
  m.def_composite("log_softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(log_softmax_int_out), variants::FUNCTION);
  m.def_structured("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                   TORCH_FN(softmax_out<log_softmax_kernel>), kernels(log_softmax_kernel), derive::OUT,
                   variants::FUNCTION);
  m.def_structured(
      "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
      TORCH_FN(softmax_backward_out<log_softmax_backward_kernel>), kernels(log_softmax_backward_kernel), derive::NONE,
      variants::FUNCTION);
}

} // namespace reftorch::at::native
