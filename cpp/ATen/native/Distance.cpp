// Mirrors: aten/src/ATen/native/Distance.cpp, aten/src/ATen/native/Normalization.cpp (renorm)
//
// Distances between vectors, and renorm, which shortens vectors.
#include <ATen/native/Distance.h>
#include <ATen/native/Fill.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(cdist_stub)
DEFINE_DISPATCH(cdist_backward_stub)
DEFINE_DISPATCH(pdist_forward_stub)
DEFINE_DISPATCH(pdist_backward_stub)

// --- all pairs -------------------------------------------------------------------------------------------------------

// Computes |a - b|^2 = |a|^2 - 2 a.b + |b|^2 for all pairs as one matrix product: of (-2 a, |a|^2, 1) with (b, 1,
// |b|^2). This is faster than pair by pair, but less exact where a and b are close.
static Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) {
  TORCH_CHECK(x2.dim() >= 2, "tensor.mT is only supported on matrices or batches of matrices. Got ", x2.dim(),
              "-D tensor.");
  auto squares = [](const Tensor& x) { return at::sum(at::mul(x, x), IntArrayRef(-1), /*keepdim=*/true); };
  const Tensor norm1 = squares(x1), norm2 = squares(x2);
  const Tensor left = at::cat({at::mul(x1, detail::wrapped_scalar_tensor(-2)), norm1, at::ones_like(norm1)}, -1);
  const Tensor right = at::cat({x2, at::ones_like(norm2), norm2}, -1);
  const Tensor squared = at::matmul(left, at::transpose(right, -2, -1));
  Tensor result = at::maximum(squared, detail::wrapped_scalar_tensor(0));
  return at::sqrt_(result);
}

// The ways to compute Euclidean distances: by the matrix product if either side has more than 25 points, always by the
// product, or never.
namespace cdist_mode {
constexpr int64_t IF_LARGE = 0, BY_PRODUCT = 1, PAIR_BY_PAIR = 2, LARGE = 25;
}

static bool by_product(const Tensor& x1, const Tensor& x2, double p, int64_t mode) {
  const bool large = x1.size(-2) > cdist_mode::LARGE || x2.size(-2) > cdist_mode::LARGE;
  return p == 2 && (mode == cdist_mode::BY_PRODUCT || (mode == cdist_mode::IF_LARGE && large));
}

static Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  const int64_t mode = compute_mode.value_or(cdist_mode::IF_LARGE);
  TORCH_CHECK(mode >= cdist_mode::IF_LARGE && mode <= cdist_mode::PAIR_BY_PAIR,
              "possible modes: 0, 1, 2, but was: ", mode);
  const auto batch = [](const Tensor& x) { return x.sizes().slice(0, x.dim() - 2); };
  const DimVector batches = infer_size_dimvector(batch(x1), batch(x2));
  int64_t count = 1;
  for (int64_t size : batches) {
    count *= size;
  }
  auto as_batches = [&](const Tensor& x) {
    DimVector expanded(batches);
    expanded.append(x.sizes().end() - 2, x.sizes().end());
    return at::reshape(at::expand(x, expanded), {count, x.size(-2), x.size(-1)}).contiguous();
  };
  DimVector shape(batches);
  shape.push_back(x1.size(-2));
  shape.push_back(x2.size(-2));
  if (x1.size(-1) > 0 && by_product(x1, x2, p, mode)) {
    return at::view(native::_euclidean_dist(as_batches(x1), as_batches(x2)), shape);
  }
  const Tensor result = detail::empty_generic(shape, x1.scalar_type(), x1.device());
  if (x1.size(-1) == 0) {
    zero_impl(result);
  } else if (result.numel() > 0) {
    cdist_stub(x1.device().type(), at::view(result, {count, x1.size(-2), x2.size(-2)}), as_batches(x1), as_batches(x2),
               p);
  }
  return result;
}

// grad, cdist: (*, P, R); x1: (*, P, M), x2: (*, R, M). Returns the gradient of x1, of the broadcast shape.
static Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) {
  const auto batch = [](const Tensor& x) { return x.sizes().slice(0, x.dim() - 2); };
  const DimVector batches = infer_size_dimvector(batch(x1), batch(x2));
  int64_t count = 1;
  for (int64_t size : batches) {
    count *= size;
  }
  const auto as_batches = [&](const Tensor& x, int64_t rows, int64_t columns) {
    DimVector shape(batches);
    shape.push_back(rows);
    shape.push_back(columns);
    return at::reshape(at::expand(x, shape), {count, rows, columns}).contiguous();
  };
  const int64_t P = x1.size(-2), R = x2.size(-2), M = x1.size(-1);
  DimVector shape(batches);
  shape.push_back(P);
  shape.push_back(M);
  const Tensor result = detail::empty_generic(shape, x1.scalar_type(), x1.device());
  zero_impl(result);
  if (result.numel() > 0 && R > 0) {
    cdist_backward_stub(x1.device().type(), at::view(result, {count, P, M}), as_batches(grad, P, R),
                        as_batches(x1, P, M), as_batches(x2, R, M), p, as_batches(cdist, P, R));
  }
  return result;
}

static Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  TORCH_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TORCH_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  TORCH_CHECK(x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  TORCH_CHECK(x1.is_floating_point(), "cdist only supports floating-point dtypes, X1 got: ", x1.scalar_type());
  TORCH_CHECK(x2.is_floating_point(), "cdist only supports floating-point dtypes, X2 got: ", x2.scalar_type());
  TORCH_CHECK(p >= 0, "cdist only supports non-negative p values");
  TORCH_CHECK(x1.scalar_type() == x2.scalar_type(), "expected X1 and X2 to have the same dtype, but got ",
              x1.scalar_type(), " and ", x2.scalar_type());
  const int64_t mode = compute_mode.value_or(cdist_mode::IF_LARGE);
  if (!by_product(x1, x2, p, mode) || x1.size(-1) == 0) {
    return at::_cdist_forward(x1, x2, p, compute_mode);
  }
  // The product is an op of its own, so that the graph shows how its gradient is computed.
  const auto batch = [](const Tensor& x) { return x.sizes().slice(0, x.dim() - 2); };
  DimVector shape = infer_size_dimvector(batch(x1), batch(x2));
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  const auto as_batches = [&](const Tensor& x) {
    DimVector expanded(shape);
    expanded.append(x.sizes().end() - 2, x.sizes().end());
    return at::view(at::contiguous(at::expand(x, expanded)), {count, x.size(-2), x.size(-1)});
  };
  const Tensor left = count == 1 ? x1 : as_batches(x1), right = count == 1 ? x2 : as_batches(x2);
  shape.push_back(x1.size(-2));
  shape.push_back(x2.size(-2));
  return at::view(at::_euclidean_dist(left, right), shape);
}

// --- one by one ------------------------------------------------------------------------------------------------------

static void dist_out(const Tensor& self, const Tensor& other, const Scalar& p, Tensor& out) {
  const Tensor result = at::norm(at::sub(self, other), p, {});
  if (!out.defined()) {
    out = result;
    return;
  }
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  resize_output(out, result.sizes());
  at::copy_(out, result);
}

// eps is added to each difference, so that the distance of a point to itself is not 0, where the norm has no
// derivative.
static Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t last = std::max(x1.dim(), x2.dim()) - 1;
  return at::norm(at::add(at::sub(x1, x2), eps), p, IntArrayRef(last), keepdim);
}

// x1 . x2 / (|x1| |x2|), where a norm below eps is replaced by eps.
static Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType common = result_type(x1, x2);
  TORCH_CHECK(c10::isFloatingType(common), "expected common dtype to be floating point, yet common dtype is ", common);
  const DimVector shape = infer_size_dimvector(x1.sizes(), x2.sizes());
  auto unit = [&](const Tensor& x) {
    const Tensor full = at::expand(x.is_floating_point() ? x : at::to(x, common), shape);
    const Tensor length = at::norm(full, 2, IntArrayRef(dim), /*keepdim=*/true);
    return at::div(full, at::maximum(length, detail::wrapped_scalar_tensor(eps)));
  };
  return at::sum(at::mul(unit(x1), unit(x2)), IntArrayRef(dim));
}

// The distances between all pairs of rows of self (n, m): the triangle of cdist(self, self) above the diagonal, row by
// row.
static Tensor pdist(const Tensor& self, double p) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TORCH_CHECK(self.is_floating_point(), "pdist only supports floating-point dtypes");
  TORCH_CHECK(p >= 0, "pdist only supports non-negative p values");
  return at::_pdist_forward(at::contiguous(self), p);
}

static Tensor _pdist_forward(const Tensor& self, double p) {
  TORCH_CHECK(self.is_contiguous(), "_pdist_forward requires contiguous input");
  const int64_t n = self.sizes()[0], pairs = n <= 1 ? 0 : n * (n - 1) / 2;
  const Tensor result = detail::empty_generic(pairs, self.scalar_type(), self.device());
  if (pairs > 0 && self.sizes()[1] == 0) {
    zero_impl(result);
  } else if (pairs > 0) {
    pdist_forward_stub(self.device().type(), result, self, p);
  }
  return result;
}

static Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  TORCH_CHECK(self.is_contiguous(), "_pdist_backward requires self to be contiguous");
  TORCH_CHECK(pdist.is_contiguous(), "_pdist_backward requires pdist to be contiguous");
  TORCH_CHECK(grad.sizes() == pdist.sizes() && grad.scalar_type() == self.scalar_type() &&
                  pdist.scalar_type() == self.scalar_type(),
              "_pdist_backward: expected grad of shape ", pdist.sizes(), " and of dtype ", self.scalar_type(),
              ", but got ", grad.sizes(), " and ", grad.scalar_type());
  const Tensor result = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  zero_impl(result);
  if (pdist.numel() > 0 && self.sizes()[1] > 0) {
    pdist_backward_stub(self.device().type(), result, grad.contiguous(), self, p, pdist);
  }
  return result;
}

// --- lengths ---------------------------------------------------------------------------------------------------------

// Scales down each slice along dim whose norm is larger than maxnorm, so that its norm becomes maxnorm.
static void renorm_out(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, Tensor& out) {
  TORCH_CHECK(p.toDouble() > 0, "renorm: non-positive-norm not supported");
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  TORCH_CHECK(maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.toDouble());
  dim = maybe_wrap_dim(dim, self.dim());
  DimVector others;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (d != dim) {
      others.push_back(d);
    }
  }
  // 16-bit floats compute in float, because the norm may be larger than the largest of them.
  const ScalarType dtype = c10::isReducedFloatingType(self.scalar_type()) ? kFloat : self.scalar_type();
  const Tensor length = at::norm(cast_to_dtype(self, dtype), p, others, /*keepdim=*/true);
  const Tensor limit = detail::wrapped_scalar_tensor(maxnorm.toDouble());
  const Tensor factor = at::div(limit, at::add(length, detail::wrapped_scalar_tensor(1e-7)));
  const Tensor scaled = at::mul(self, at::where(at::lt(limit, length), factor, detail::wrapped_scalar_tensor(1.0)));
  const Tensor result = cast_to_dtype(scaled, self.scalar_type());
  if (!out.defined()) {
    out = result.contiguous();
    return;
  }
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
              c10::dtypeName(self.scalar_type()), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  resize_output(out, self.sizes());
  at::copy_(out, result);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", TORCH_FN(_cdist_forward),
        kernels(cdist_stub, fill_stub, zero_stub), variants::NN);
  m.def("_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
        TORCH_FN(_cdist_backward), kernels(cdist_backward_stub, fill_stub, zero_stub), variants::NN);
  m.def("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", TORCH_FN(_euclidean_dist), FUNCTION);
  m.def("_pdist_forward(Tensor self, float p=2) -> Tensor", TORCH_FN(_pdist_forward),
        kernels(pdist_forward_stub, zero_stub), variants::NN);
  m.def("_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", TORCH_FN(_pdist_backward),
        kernels(pdist_backward_stub, zero_stub), variants::NN);
  m.def_composite("cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor", TORCH_FN(cdist),
                  FUNCTION);
  m.def_composite("pdist(Tensor self, float p=2) -> Tensor", TORCH_FN(pdist), FUNCTION);
  m.def_structured("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", TORCH_FN(dist_out), derive::NONE);
  m.def_composite("pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-6, bool keepdim=False) -> Tensor",
                  TORCH_FN(pairwise_distance), FUNCTION);
  m.def_composite("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8) -> Tensor",
                  TORCH_FN(cosine_similarity), FUNCTION);
  m.def_structured("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", TORCH_FN(renorm_out));
}

} // namespace reftorch::at::native
