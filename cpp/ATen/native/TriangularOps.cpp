// Mirrors: aten/src/ATen/native/TriangularOps.cpp, aten/src/ATen/native/TensorShape.cpp (diag, diag_embed), aten/src/ATen/native/ReduceOps.cpp (trace)
//
// Ops on the triangles and diagonals of matrices.
#include <ATen/native/Fill.h>
#include <ATen/native/TriangularOps.h>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TypeMetaName.h>

#include <algorithm>

namespace reftorch::at::native {

DEFINE_DISPATCH(triu_tril_stub)
DEFINE_DISPATCH(trace_stub)

static void triu_tril_out(const char* name, const Tensor& self, int64_t k, bool upper, Tensor& out) {
  TORCH_CHECK(self.dim() >= 2, name, ": input tensor must have at least 2 dimensions");
  if (!out.defined()) {
    out = empty_impl(self.sizes(), self.scalar_type(), self.device());
  } else {
    TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
                type_meta_name(self.scalar_type()), ", but got ", type_meta_name(out.scalar_type()), " instead");
    resize_output(out, self.sizes());
  }
  at::copy_(out, self);
  if (out.numel() > 0) {
    k = std::clamp(k, -self.size(-2), self.size(-1)); // beyond the corners a larger k changes nothing
    triu_tril_stub(out.device().type(), out, k, upper);
  }
}

static void tril_out(const Tensor& self, int64_t diagonal, Tensor& out) {
  triu_tril_out("tril", self, diagonal, /*upper=*/false, out);
}

static void triu_out(const Tensor& self, int64_t diagonal, Tensor& out) {
  triu_tril_out("triu", self, diagonal, /*upper=*/true, out);
}

static Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1;
  const int64_t d1 = maybe_wrap_dim(dim1, ndim), d2 = maybe_wrap_dim(dim2, ndim);
  TORCH_CHECK(d1 != d2, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t length = 0;
  TORCH_CHECK(!__builtin_add_overflow(self.size(-1), offset < 0 ? -(offset + 1) + 1 : offset, &length),
              "diag_embed: offset ", offset, " is more than a tensor can hold");
  DimVector sizes(self.sizes().slice(0, self.dim() - 1));
  sizes.insert(std::min(d1, d2), length);
  sizes.insert(std::max(d1, d2), length);
  Tensor result = empty_impl(sizes, self.scalar_type(), self.device());
  zero_impl(result);
  Tensor diagonal = at::diagonal(result, offset, d1, d2);
  at::copy_(diagonal, self);
  return result;
}

static Tensor diag(const Tensor& self, int64_t diagonal) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return self.dim() == 1 ? at::diag_embed(self, diagonal)
                         : at::clone(at::diagonal(self, diagonal), MemoryFormat::Contiguous);
}

static Tensor& diag_out(const Tensor& self, int64_t diagonal, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
              type_meta_name(self.scalar_type()), ", but got ", type_meta_name(out.scalar_type()), " instead");
  const Tensor result = native::diag(self, diagonal);
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

// Flattens self and puts the elements on the diagonal of a matrix.
static Tensor diagflat(const Tensor& self, int64_t offset) {
  return at::diag(at::reshape(self.contiguous(), IntArrayRef(-1)), offset);
}

// The sum of the diagonal; int64 for integers.
static Tensor trace(const Tensor& self) {
  const ScalarType type = self.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(type != kBool, "\"trace\" not implemented for 'Bool'");
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  const bool integers = c10::isIntegralType(type, /*includeBool=*/false);
  const Tensor result = detail::empty_generic({}, integers ? kLong : type, self.device());
  trace_stub(self.device().type(), result, self);
  return result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("tril(Tensor self, SymInt diagonal=0) -> Tensor", TORCH_FN(tril_out), kernels(triu_tril_stub));
  m.def_structured("triu(Tensor self, SymInt diagonal=0) -> Tensor", TORCH_FN(triu_out), kernels(triu_tril_stub));
  m.def("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", TORCH_FN(diag_embed),
        kernels(fill_stub, zero_stub));
  m.def_composite("diag(Tensor self, int diagonal=0) -> Tensor", TORCH_FN(diag));
  m.def("diag.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(diag_out),
        variants::FUNCTION);
  m.def_composite("diagflat(Tensor self, int offset=0) -> Tensor", TORCH_FN(diagflat));
  m.def("trace(Tensor self) -> Tensor", TORCH_FN(trace), kernels(trace_stub));
}

} // namespace reftorch::at::native
