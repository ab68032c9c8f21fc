// Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (matmul, outer), aten/src/ATen/native/Linear.cpp
//
// Products of tensors with any number of dimensions, composed of mm, mv, dot and bmm. Left out: bilinear.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/TypeMetaName.h>
#include <c10/util/accumulate.h>

#include <string>

namespace reftorch::at::native {

// Whether a batch times one matrix is computed as one larger product, where the batch is seen as a matrix with more
// rows. Without this fold the matrix would be expanded to the size of the batch, and so would its gradient.
static bool should_fold(const Tensor& tensor1, const Tensor& tensor2) {
  const bool tensor1_larger = tensor1.dim() >= tensor2.dim();
  const Tensor& larger = tensor1_larger ? tensor1 : tensor2;
  const Tensor& smaller = tensor1_larger ? tensor2 : tensor1;
  if (larger.dim() < 3 || smaller.dim() > 2) {
    return false;
  }
  if (smaller.requires_grad()) {
    return true;
  }
  if (tensor1.dim() == 2) { // a folded result would be transposed and need a copy
    return false;
  }
  const Tensor t1 = tensor1_larger ? tensor1 : at::transpose(tensor2, -2, -1);
  if (t1.numel() == 0) {
    return true;
  }
  for (int64_t d = 0; d + 2 < t1.dim(); d++) {
    if (t1.strides()[d] != t1.strides()[d + 1] * t1.sizes()[d + 1]) {
      return false;
    }
  }
  return true;
}

static Tensor matmul_folded(const Tensor& tensor1, const Tensor& tensor2) {
  const bool tensor1_larger = tensor1.dim() >= tensor2.dim();
  const Tensor t1 = tensor1_larger ? tensor1 : at::transpose(tensor2, -2, -1);
  const Tensor t2 = tensor1_larger ? tensor2 : tensor1.dim() == 2 ? at::transpose(tensor1, 0, 1) : tensor1;
  DimVector output_shape(t1.sizes().slice(0, t1.dim() - 1));
  const Tensor t1_folded = at::reshape(t1, {c10::multiply_integers(output_shape), t1.size(-1)});
  if (t2.dim() == 1) {
    return at::_unsafe_view(at::mv(t1_folded, t2), output_shape);
  }
  output_shape.push_back(t2.sizes()[1]);
  const Tensor output = at::_unsafe_view(at::mm(t1_folded, t2), output_shape);
  return tensor1_larger ? output : at::transpose(output, -2, -1).contiguous();
}

static Tensor matmul(const Tensor& tensor1, const Tensor& tensor2) {
  const int64_t dim1 = tensor1.dim(), dim2 = tensor2.dim();
  TORCH_CHECK(dim1 != 0 && dim2 != 0, "both arguments to matmul need to be at least 1D, but they are ", dim1, "D and ",
              dim2, "D");
  if (dim1 == 2 && dim2 == 2) {
    return at::mm(tensor1, tensor2);
  }
  if (dim1 == 1 && dim2 == 1) {
    return at::dot(tensor1, tensor2);
  }
  if (dim1 == 2 && dim2 == 1) {
    return at::mv(tensor1, tensor2);
  }
  if (dim1 == 1 && dim2 == 2) {
    return at::squeeze(at::mm(at::unsqueeze(tensor1, 0), tensor2), 0);
  }
  if (should_fold(tensor1, tensor2)) {
    return matmul_folded(tensor1, tensor2);
  }
  // (*batch1, n, m1) @ (*batch2, m2, p): the batch dimensions are broadcast, then merged into one.
  const int64_t n = dim1 > 1 ? tensor1.size(-2) : 1, m1 = tensor1.size(-1);
  const int64_t m2 = dim2 > 1 ? tensor2.size(-2) : tensor2.size(-1), p = dim2 > 1 ? tensor2.size(-1) : 1;
  const IntArrayRef batch1 = tensor1.sizes().slice(0, std::max<int64_t>(dim1 - 2, 0));
  const IntArrayRef batch2 = tensor2.sizes().slice(0, std::max<int64_t>(dim2 - 2, 0));
  if (dim1 == 3 && dim2 == 3 && batch1[0] != batch2[0]) { // folded, so that no gradient is as large as the batch
    if (batch1[0] == 1 && tensor1.requires_grad()) {
      return native::matmul(at::squeeze(tensor1, 0), tensor2);
    }
    if (batch2[0] == 1 && tensor2.requires_grad()) {
      return native::matmul(tensor1, at::squeeze(tensor2, 0));
    }
  }
  DimVector output_shape = infer_size_dimvector(batch1, batch2);
  const int64_t batch = c10::multiply_integers(output_shape);
  DimVector shape1 = output_shape, shape2 = output_shape;
  shape1.push_back(n);
  shape1.push_back(m1);
  shape2.push_back(m2);
  if (dim2 > 1) {
    shape2.push_back(p);
  }
  const Tensor left = at::reshape(at::expand(tensor1, shape1), {batch, n, m1});
  const Tensor expanded2 = at::expand(tensor2, shape2);
  const Tensor right =
      dim2 > 1 ? at::reshape(expanded2, {batch, m2, p}) : at::unsqueeze(at::reshape(expanded2, {batch, m2}), 2);
  if (dim1 > 1) {
    output_shape.push_back(n);
  }
  if (dim2 > 1) {
    output_shape.push_back(p);
  }
  const Tensor result = at::bmm(left, right);
  return at::_unsafe_view(dim2 > 1 ? result : at::squeeze(result, -1), output_shape);
}

static Tensor outer(const Tensor& self, const Tensor& vec2) {
  TORCH_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul(at::reshape(self, {self.sizes()[0], 1}), vec2);
}

// A product of two matrices is written directly to `out`; other products are computed first and then copied to `out`.
static Tensor& matmul_out(const Tensor& tensor1, const Tensor& tensor2, Tensor& out) {
  if (tensor1.dim() == 2 && tensor2.dim() == 2) {
    return at::mm_out(out, tensor1, tensor2);
  }
  const Tensor result = native::matmul(tensor1, tensor2);
  TORCH_CHECK(out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              type_meta_name(result.scalar_type()), ", but got ", type_meta_name(out.scalar_type()), " instead");
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

static Tensor& outer_out(const Tensor& self, const Tensor& vec2, Tensor& out) {
  TORCH_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul_out(out, at::reshape(self, {self.sizes()[0], 1}), vec2);
}

// input (*, in) @ weight (out, in).t() + bias (out)
static Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  TORCH_CHECK(input.dim() != 0 && weight.dim() != 0, "both arguments to linear need to be at least 1D, but they are ",
              input.dim(), "D and ", weight.dim(), "D");
  const bool has_bias = bias.has_value() && bias->defined();
  if (has_bias && input.dim() == 2) {
    return at::addmm(*bias, input, at::t(weight));
  }
  // One addmm suffices where input is contiguous, so that its rows are the rows of one matrix, and bias is one row.
  if (has_bias && input.is_contiguous() && bias->is_contiguous() &&
      (bias->dim() <= 1 || bias->numel() == weight.sizes()[0])) {
    DimVector shape(input.sizes());
    const int64_t features = shape.back();
    shape.pop_back();
    const Tensor rows = at::view(input, {c10::multiply_integers(shape), features});
    const Tensor result = at::addmm(*bias, rows, at::t(weight));
    shape.push_back(result.sizes()[1]);
    return at::view(result, shape);
  }
  const Tensor output = at::matmul(input, at::t(weight));
  TORCH_CHECK(!has_bias || is_expandable_to(bias->sizes(), output.sizes()), "output with shape ", output.sizes(),
              " doesn't match the broadcast shape of the bias, ", has_bias ? bias->sizes() : IntArrayRef());
  return has_bias ? at::add(output, *bias) : output;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("matmul(Tensor self, Tensor other) -> Tensor", TORCH_FN(matmul));
  m.def("matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(matmul_out),
        variants::FUNCTION);
  m.def_composite("linalg_matmul(Tensor self, Tensor other) -> Tensor", TORCH_FN(matmul), variants::LINALG);
  m.def("linalg_matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(matmul_out),
        variants::LINALG);
  for (const std::string name : {"outer", "ger"}) {
    m.def_composite(name + "(Tensor self, Tensor vec2) -> Tensor", TORCH_FN(outer));
    m.def(name + ".out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(outer_out),
          variants::FUNCTION);
  }
  m.def_composite_with_out("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", TORCH_FN(linear),
                           variants::NN);
}

} // namespace reftorch::at::native
