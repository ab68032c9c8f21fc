// Mirrors: aten/src/ATen/native/Linear.cpp (tensordot), aten/src/ATen/native/LinearAlgebra.cpp (inner, kron, vander, ...), aten/src/ATen/native/Cross.cpp
//
// Products of tensors that become products of matrices, or of single elements, after a change of shape.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native {

// Sums over pairs of dimensions: dims_self[i] of self with dims_other[i] of other. The summed dimensions of each tensor
// are merged into one and the other dimensions into another; the result is then a product of two matrices.
static Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  TORCH_CHECK(dims_self.size() == dims_other.size(), "both dimension lists should have same length");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "both inputs should have same dtype");
  Tensor left = self, right = other;
  int64_t inner = 1;
  for (size_t i = 0; i < dims_self.size(); i++) {
    const int64_t l = left.size(dims_self[i]), r = right.size(dims_other[i]);
    auto summed = [](const Tensor& t, int64_t dim) { // cast back: the sum of integers is int64
      return cast_to_dtype(at::sum(t, dim, /*keepdim=*/true), t.scalar_type());
    };
    if (r == 1) { // broadcast: the other tensor is summed along this dimension right away
      left = summed(left, dims_self[i]);
    } else if (l == 1) {
      right = summed(right, dims_other[i]);
    } else {
      TORCH_CHECK(l == r, "contracted dimensions need to match, but first has size ", l, " in dim ", dims_self[i],
                  " and second has size ", r, " in dim ", dims_other[i]);
      inner *= l;
    }
  }
  const DimSet summed_left = dim_list_to_bitset(dims_self, self.dim());
  const DimSet summed_right = dim_list_to_bitset(dims_other, other.dim());
  DimVector order_left, order_right, result_sizes;
  int64_t rows = 1, cols = 1;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (!summed_left[d]) {
      order_left.push_back(d);
      result_sizes.push_back(left.sizes()[d]);
      rows *= left.sizes()[d];
    }
  }
  for (int64_t d : dims_self) {
    order_left.push_back(maybe_wrap_dim(d, self.dim()));
  }
  for (int64_t d : dims_other) {
    order_right.push_back(maybe_wrap_dim(d, other.dim()));
  }
  for (int64_t d = 0; d < other.dim(); d++) {
    if (!summed_right[d]) {
      order_right.push_back(d);
      result_sizes.push_back(right.sizes()[d]);
      cols *= right.sizes()[d];
    }
  }
  left = at::reshape(at::permute(left, order_left), {rows, inner});
  right = at::reshape(at::permute(right, order_right), {inner, cols});
  return at::reshape(at::mm(left, right), result_sizes);
}

static Tensor& tensordot_out(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other,
                             Tensor& out) {
  const Tensor result = native::tensordot(self, other, dims_self, dims_other);
  TORCH_CHECK(out.scalar_type() == result.scalar_type(), "tensordot: Expected the output tensor to have dtype ",
              result.scalar_type(), ", but got an output tensor with dtype ", out.scalar_type());
  give_result(result, out);
  return out;
}

// Sums over the last dimension of both tensors.
static Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) {
    return at::mul(self, other);
  }
  TORCH_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ",
              other.sizes());
  if (self.dim() == 1 && other.dim() == 1 && self.scalar_type() == other.scalar_type()) {
    return at::vdot(self, other);
  }
  return at::tensordot(self, other, IntArrayRef(-1), IntArrayRef(-1));
}

static Tensor& inner_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 0 || other.dim() == 0) {
    return at::mul_out(out, self, other);
  }
  TORCH_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ",
              other.sizes());
  return tensordot_out(self, other, IntArrayRef(-1), IntArrayRef(-1), out);
}

// Multiplies each element of self with the whole of other, which gives blocks: shapes (a, b) and (c, d) give (a * c, b
// * d).
static Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t ndim = std::max(self.dim(), other.dim());
  auto size_of = [ndim](const Tensor& t, int64_t d) {
    const int64_t own = d - (ndim - t.dim());
    return own < 0 ? 1 : t.sizes()[own];
  };
  DimVector left, right, result;
  for (int64_t d = 0; d < ndim; d++) {
    const int64_t a = size_of(self, d), b = size_of(other, d);
    left.push_back(a);
    left.push_back(1);
    right.push_back(1);
    right.push_back(b);
    // wraps around where the size is too large; mul raises then
    result.push_back(static_cast<int64_t>(uint64_t(a) * uint64_t(b)));
  }
  return at::_unsafe_view(at::mul(at::reshape(self, left), at::reshape(other, right)), result);
}

static Tensor& kron_out(const Tensor& self, const Tensor& other, Tensor& out) {
  const Tensor result = native::kron(self.contiguous(), other.contiguous());
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

// --- vectors ---------------------------------------------------------------------------------------------------------

static Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  checkFloatingOrComplex(x, "linalg.vecdot");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(),
              "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ", x.scalar_type(),
              " and y of type ", y.scalar_type(), " instead");
  return x.dim() == 1 && y.dim() == 1 ? at::vdot(x, y) : at::sum(at::mul(x, y), IntArrayRef(dim));
}

// (x2 y3 - x3 y2, x3 y1 - x1 y3, x1 y2 - x2 y1)
static void linalg_cross_out(const Tensor& self, const Tensor& other, int64_t dim, Tensor& out) {
  TORCH_CHECK(self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  const int64_t d = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(self.size(d) == 3 && other.size(d) == 3, "linalg.cross: inputs dimension ", dim,
              " must have length 3. Got ", self.size(d), " and ", other.size(d));
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "\"cross\" not implemented for 'Bool'");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
              other.scalar_type());
  const DimVector sizes = infer_size_dimvector(self.sizes(), other.sizes());
  const Tensor x = at::expand(self, sizes), y = at::expand(other, sizes);
  auto component = [&](int64_t i, int64_t j) {
    return at::sub(at::mul(at::select(x, d, i), at::select(y, d, j)),
                   at::mul(at::select(x, d, j), at::select(y, d, i)));
  };
  const Tensor result = at::stack(std::vector<Tensor>{component(1, 2), component(2, 0), component(0, 1)}, d);
  give_result(result, out);
}

// The dimension that torch.cross uses if none is given.
static Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim.has_value()) {
    return at::linalg_cross(self, other, *dim);
  }
  TORCH_WARN_ONCE(
      "Using torch.cross without specifying the dim arg is deprecated. Hint: torch.linalg.cross takes the last ",
      "dimension where none is given, torch.cross the first one of size 3.");
  for (int64_t d = 0; d < self.dim(); d++) {
    if (self.sizes()[d] == 3) {
      return at::linalg_cross(self, other, d);
    }
  }
  TORCH_CHECK(false, "no dimension of size 3 in input");
  return Tensor();
}

static Tensor& cross_out(const Tensor& self, const Tensor& other, std::optional<int64_t> dim, Tensor& out) {
  give_result(native::cross(self, other, dim), out);
  return out;
}

// The powers 0 .. n - 1 of each element, in a new last dimension. All powers are allocated at once, so that an n that
// no memory could hold is an error and not an endless loop.
static Tensor powers(const Tensor& base, int64_t n) {
  DimVector sizes(base.sizes());
  sizes.push_back(n - 1);
  const Tensor higher = at::cumprod(at::expand(at::unsqueeze(base, -1), sizes), -1);
  return at::cat({at::unsqueeze(at::ones_like(base), -1), higher}, -1);
}

static Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  const ScalarType dtype = x.scalar_type();
  TORCH_CHECK(dtype == kFloat || dtype == kDouble || c10::isIntegralType(dtype, /*includeBool=*/false),
              "linalg.vander supports floating point, complex, and integer tensors, but got ", dtype);
  const int64_t n = N.value_or(x.dim() == 0 ? 1 : x.size(-1));
  TORCH_CHECK(n > 1, "N must be greater than 1.");
  const Tensor wide = c10::isIntegralType(dtype, /*includeBool=*/true) ? at::to(x, kLong) : x;
  return powers(x.dim() == 0 ? at::unsqueeze(wide, 0) : wide, n); // a number counts as a vector of one element
}

// vander of numpy, for one vector: the highest power comes first unless `increasing`.
static Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t n = N.value_or(x.sizes()[0]);
  TORCH_CHECK(n >= 0, "N must be non-negative.");
  const ScalarType dtype = c10::isIntegralType(x.scalar_type(), /*includeBool=*/true) ? kLong : x.scalar_type();
  if (n == 0) {
    return at::empty({x.sizes()[0], 0}, dtype, x.device());
  }
  if (n == 1) { // only the ones of power 0, which no gradient reaches
    return at::ones_like(at::empty({x.sizes()[0], 1}, dtype, x.device()));
  }
  const Tensor result = powers(at::to(x, dtype), n);
  return increasing ? result : at::flip(result, 1);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, LINALG = variants::LINALG;
  m.def_composite("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
                  TORCH_FN(tensordot), FUNCTION);
  m.def("tensordot.out(Tensor self, Tensor other, int[] dims_self, int[] dims_other, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(tensordot_out), FUNCTION);
  m.def_composite("inner(Tensor self, Tensor other) -> Tensor", TORCH_FN(inner));
  m.def("inner.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(inner_out), FUNCTION);
  m.def_composite("kron(Tensor self, Tensor other) -> Tensor", TORCH_FN(kron));
  m.def("kron.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(kron_out), FUNCTION);
  m.def_composite_with_out("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", TORCH_FN(linalg_vecdot),
                           LINALG);
  m.def_structured("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", TORCH_FN(linalg_cross_out),
                   derive::OUT, LINALG);
  m.def_composite("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", TORCH_FN(cross));
  m.def("cross.out(Tensor self, Tensor other, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(cross_out),
        FUNCTION);
  m.def_composite("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", TORCH_FN(linalg_vander), LINALG);
  m.def_composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", TORCH_FN(vander), FUNCTION);
}

} // namespace reftorch::at::native
