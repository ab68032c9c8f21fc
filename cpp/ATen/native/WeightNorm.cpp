// Mirrors: aten/src/ATen/native/WeightNorm.cpp, aten/src/ATen/native/cpu/WeightNormKernel.cpp
//
// Weight norm: w = g v / |v|, where the norm is taken over all dimensions but one. Forward and backward are made of
// other ops, so there are no kernels of their own.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

// Returns a shape of v.dim() dimensions. All dimensions but `dim` have size 1.
static DimVector sizes_along(const Tensor& v, int64_t dim) {
  DimVector sizes(v.dim(), 1);
  sizes[dim] = v.size(dim);
  return sizes;
}

// Returns the norm over all dimensions but `dim`; with dim = -1, the norm of all elements.
static Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) {
    return at::norm(v, pow);
  }
  if (dim == 0) {
    return at::view(at::norm(at::view(at::contiguous(v), {v.size(0), -1}), pow, IntArrayRef(1)), sizes_along(v, 0));
  }
  if (dim == v.dim() - 1) {
    return at::view(at::norm(at::view(at::contiguous(v), {-1, v.size(dim)}), pow, IntArrayRef(0)), sizes_along(v, dim));
  }
  return at::transpose(at::norm_except_dim(at::transpose(v, 0, dim), pow, 0), 0, dim);
}

static Tensor _weight_norm(const Tensor& v_in, const Tensor& g_in, int64_t dim) {
  TORCH_CHECK(v_in.device() == g_in.device(),
              "weight_norm: expected v_in and g_in to be on the same device, but v_in is on ", v_in.device(),
              " and g_in is on ", g_in.device());
  const Tensor v = at::contiguous(v_in), g = at::contiguous(g_in);
  const bool is_half = v.scalar_type() == kHalf || g.scalar_type() == kHalf;
  if (!is_half && (dim == 0 || dim == v.dim() - 1)) {
    return std::get<0>(at::_weight_norm_interface(v, g, dim));
  }
  return at::mul(v, at::div(g, at::norm_except_dim(v, 2, dim)));
}

static void check_is_float(const char* kernel, const Tensor& t) {
  TORCH_CHECK_NOT_IMPLEMENTED(t.is_floating_point(), "\"", kernel, "\" not implemented for '", t.scalar_type(), "'");
}

static ScalarType dtype_of_norms(const Tensor& g) {
  return c10::isReducedFloatingType(g.scalar_type()) ? kFloat : g.scalar_type();
}

// Returns w and the norms, in the shape of g; backward reads the norms. The norms of 16-bit floats are float32.
static std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  check_is_float("weight_norm_kernel", v);
  const ScalarType dtype = dtype_of_norms(g);
  const Tensor norms = native::norm_except_dim(at::to(v, dtype), 2, dim);
  const Tensor w = at::to(at::mul(v, at::div(g, norms)), v.scalar_type());
  return {w, at::view(norms, g.sizes())};
}

// With s = sum(grad_w v) along all dimensions but one: grad_g = s / |v| and grad_v = g / |v| (grad_w - v s / |v|^2).
static std::tuple<Tensor, Tensor> weight_norm_backward(const char* op, const Tensor& grad_w, const Tensor& saved_v,
                                                       const Tensor& saved_g, const Tensor& saved_norms, int64_t dim) {
  const int64_t last = maybe_wrap_dim(-1, saved_v.dim(), /*wrap_scalar=*/false);
  TORCH_CHECK(dim == 0 || dim == last, op, ": Expected dim to be the first or last dimension, but got dim ", dim,
              " for a weight of ", saved_v.dim(), " dimensions");
  const Tensor norms = at::to(saved_norms, saved_g.scalar_type());
  const Tensor product = at::mul(grad_w, saved_v);
  const Tensor flat = dim == 0 ? at::sum(at::view(product, {saved_v.size(0), -1}), IntArrayRef(1))
                               : at::sum(at::view(product, {-1, saved_v.size(dim)}), IntArrayRef(int64_t(0)));
  const Tensor sums = at::view(flat, sizes_along(saved_v, dim));
  const Tensor grad_v =
      at::mul(at::div(saved_g, norms), at::sub(grad_w, at::mul(saved_v, at::div(sums, at::mul(norms, norms)))));
  return {grad_v, at::div(sums, norms)};
}

static std::tuple<Tensor, Tensor> _weight_norm_interface_backward(const Tensor& grad_w, const Tensor& saved_v,
                                                                  const Tensor& saved_g, const Tensor& saved_norms,
                                                                  int64_t dim) {
  TORCH_CHECK(saved_v.is_contiguous(), "saved_v must be contiguous");
  TORCH_CHECK(saved_g.is_contiguous(), "saved_g must be contiguous");
  TORCH_CHECK(saved_norms.is_contiguous(), "saved_norm must be contiguous");
  check_is_float("weight_norm_backward_kernel", saved_v);
  TORCH_CHECK(saved_norms.scalar_type() == dtype_of_norms(saved_g), "expected scalar type ",
              toString(dtype_of_norms(saved_g)), " but found ", toString(saved_norms.scalar_type()));
  return weight_norm_backward("_weight_norm_interface_backward", grad_w, saved_v, saved_g, saved_norms, dim);
}

// Computes what _weight_norm_interface_backward computes, by ops that autograd records: for a second derivative.
// Unlike PyTorch, this op does not ask for contiguous tensors, because the tensors in vmap are rarely contiguous.
static std::tuple<Tensor, Tensor> _weight_norm_differentiable_backward(const Tensor& grad_w, const Tensor& saved_v,
                                                                       const Tensor& saved_g, const Tensor& saved_norms,
                                                                       int64_t dim) {
  return weight_norm_backward("_weight_norm_differentiable_backward", grad_w, saved_v, saved_g, saved_norms, dim);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", TORCH_FN(norm_except_dim), FUNCTION);
  m.def_composite("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", TORCH_FN(_weight_norm), FUNCTION);
  m.def("_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", TORCH_FN(_weight_norm_interface),
        FUNCTION);
  m.def(
      "_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> "
      "(Tensor, Tensor)",
      TORCH_FN(_weight_norm_interface_backward), variants::NN);
  m.def_composite(
      "_weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
      "dim) -> (Tensor, Tensor)",
      TORCH_FN(_weight_norm_differentiable_backward), variants::NN);
}

} // namespace reftorch::at::native
