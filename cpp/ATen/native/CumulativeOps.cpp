// Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum)
// Running sums. Left out: cumprod, cummax, logcumsumexp.
#include <ATen/native/ReduceOps.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(cumsum_stub)

// out[..., i, ...] = self[..., 0, ...] + ... + self[..., i, ...]
static void cumsum_out(const Tensor& self, int64_t dim, std::optional<ScalarType> opt_dtype, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  const ScalarType dtype = infer_dtype_from_optional(self, opt_dtype, out, "cumsum");
  const Tensor source = (self.scalar_type() == dtype ? self : cast_to_dtype(self, dtype)).contiguous();
  if (!out.defined()) {
    out = detail::empty_generic(self.sizes(), dtype, self.device());
  }
  resize_output(out, self.sizes());
  const Tensor result = out.is_contiguous() ? out : detail::empty_generic(self.sizes(), dtype, self.device());
  if (self.dim() == 0) {
    at::copy_(out, source); // of one number, a bool too
    return;
  }
  if (self.numel() != 0) {
    cumsum_stub(self.device().type(), result, source, shape_around(source, dim));
  }
  if (!result.is_same(out)) {
    at::copy_(out, result);
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(cumsum_out));
}

} // namespace reftorch::at::native
