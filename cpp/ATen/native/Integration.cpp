// Mirrors: aten/src/ATen/native/Integration.cpp, aten/src/ATen/native/ReduceOps.cpp (diff)
//
// Composite ops: differences of neighbours, and areas under a curve by the trapezoidal rule.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

#include <algorithm>

namespace reftorch::at::native {

// `after` is all elements but the first along dim; `before` is all but the last.
static Tensor after(const Tensor& t, int64_t dim) {
  return at::slice(t, dim, 1, std::nullopt);
}
static Tensor before(const Tensor& t, int64_t dim) {
  return at::slice(t, dim, 0, std::max<int64_t>(t.size(dim) - 1, 0));
}

// --- differences -----------------------------------------------------------------------------------------------------

using OptionalTensor = std::optional<Tensor>;

static bool given(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

static Tensor diff(const Tensor& self, int64_t n, int64_t dim, const OptionalTensor& prepend,
                   const OptionalTensor& append) {
  TORCH_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  TORCH_CHECK(n >= 0, "order must be non-negative but got ", n);
  if (n == 0 && !given(prepend) && !given(append)) {
    return at::clone(self); // dim is not even checked, as in PyTorch
  }
  dim = maybe_wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  for (const OptionalTensor& part : {prepend, OptionalTensor(self), append}) {
    if (given(part)) {
      TORCH_CHECK(part->dim() == self.dim(), "diff expects prepend or append to be the same dimension as input");
      for (int64_t d = 0; d < self.dim(); d++) {
        TORCH_CHECK(d == dim || part->sizes()[d] == self.sizes()[d],
                    "diff expects the shape of tensor to prepend or append to match that of input except along the ",
                    "differencing dimension; input.size(", d, ") = ", self.sizes()[d], ", but got tensor.size(", d,
                    ") = ", part->sizes()[d]);
      }
      parts.push_back(*part);
    }
  }
  if (n == 0) { // prepend and append are ignored, as in PyTorch
    return at::clone(self);
  }
  Tensor result = parts.size() == 1 ? self : at::cat(parts, dim);
  const int64_t size = result.size(dim);
  if (n >= size) {
    return at::clone(at::narrow(result, dim, 0, 0));
  }
  for (int64_t i = 0; i < n; i++) {
    result = result.scalar_type() == kBool ? at::ne(after(result, dim), before(result, dim))
                                           : at::sub(after(result, dim), before(result, dim));
  }
  return result;
}

static Tensor& diff_out(const Tensor& self, int64_t n, int64_t dim, const OptionalTensor& prepend,
                        const OptionalTensor& append, Tensor& out) {
  const Tensor result = diff(self, n, dim, prepend, append);
  TORCH_CHECK(n > 0 || result.scalar_type() == out.scalar_type(), "expected scalar_type ", result.scalar_type(),
              " but found ", out.scalar_type());
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  if (resize_output(out, result.sizes()) && n > 0) { // a resized out gets the strides of the result
    out.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides(), out.storage_offset());
  }
  return at::copy_(out, result);
}

// --- areas -----------------------------------------------------------------------------------------------------------

// Twice the mean height of each trapezoid.
static Tensor heights(const Tensor& y, int64_t dim) {
  return at::add(before(y, dim), after(y, dim));
}

// The width of each trapezoid, in a shape that broadcasts with the heights. x is a vector, or has as many dimensions as
// y.
static Tensor widths(const char* name, const Tensor& y, const Tensor& x, int64_t dim) {
  TORCH_CHECK(y.scalar_type() != kBool && x.scalar_type() != kBool, name,
              ": received a bool input for `x` or `y`, but bool is not supported");
  Tensor places = x;
  if (x.dim() == 1) {
    TORCH_CHECK(x.sizes()[0] == y.size(dim), name, ": There must be one `x` value for each sample point");
    DimVector shape(static_cast<size_t>(y.dim()), 1);
    shape[dim] = x.sizes()[0];
    places = at::reshape(x, shape);
  } else if (x.dim() < y.dim()) {
    DimVector shape(static_cast<size_t>(y.dim() - x.dim()), 1);
    shape.append(x.sizes().begin(), x.sizes().end());
    places = at::reshape(x, shape);
  }
  return at::sub(after(places, dim), before(places, dim));
}

static Tensor half(const Tensor& t) {
  return at::div(t, detail::wrapped_scalar_tensor(2.0));
}

static Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = maybe_wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) {
    DimVector shape(y.sizes());
    shape.erase(dim);
    return at::zeros(shape, y.scalar_type(), y.device());
  }
  const Tensor width = widths("trapezoid", y, x, dim);
  return half(at::sum(at::mul(width, heights(y, dim)), IntArrayRef(dim)));
}

static Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = maybe_wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) {
    DimVector shape(y.sizes());
    shape.erase(dim);
    return at::zeros(shape, y.scalar_type(), y.device());
  }
  TORCH_CHECK(y.scalar_type() != kBool, "trapezoid: received a bool input for `y`, but bool is not supported");
  const Tensor all = at::sum(y, IntArrayRef(dim));
  const Tensor ends = half(at::add(at::select(y, dim, 0), at::select(y, dim, -1)));
  return at::mul(at::sub(all, ends), detail::wrapped_scalar_tensor(dx));
}

static Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) {
  return trapezoid_dx(y, dx, dim);
}

static Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = maybe_wrap_dim(dim, y.dim());
  const Tensor width = widths("cumulative_trapezoid", y, x, dim);
  return half(at::cumsum(at::mul(width, heights(y, dim)), dim));
}

static Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = maybe_wrap_dim(dim, y.dim());
  TORCH_CHECK(y.scalar_type() != kBool,
              "cumulative_trapezoid: received a bool input for `y`, but bool is not supported");
  return at::mul(at::cumsum(heights(y, dim), dim), detail::wrapped_scalar_tensor(dx.toDouble() / 2));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
                  TORCH_FN(diff));
  m.def_composite(
      "diff.out(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, "
      "Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(diff_out), FUNCTION);
  m.def_composite("trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", TORCH_FN(trapezoid_x), FUNCTION);
  m.def_composite("trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", TORCH_FN(trapezoid_dx), FUNCTION);
  m.def_composite("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", TORCH_FN(trapezoid_x), FUNCTION);
  m.def_composite("trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor", TORCH_FN(trapz_dx), FUNCTION);
  m.def_composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                  TORCH_FN(cumulative_trapezoid_x), FUNCTION);
  m.def_composite("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
                  TORCH_FN(cumulative_trapezoid_dx), FUNCTION);
}

} // namespace reftorch::at::native
