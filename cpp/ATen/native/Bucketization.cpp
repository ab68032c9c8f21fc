// Mirrors: aten/src/ATen/native/Bucketization.cpp
//
// Finds the positions at which numbers would be inserted into a sorted sequence.
#include <ATen/native/Bucketization.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/TensorFactories.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(searchsorted_stub)

static void check_shapes(const Tensor& boundaries, const Tensor& values) {
  TORCH_CHECK(boundaries.dim() != 0,
              "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 ", "dimension");
  TORCH_CHECK(
      values.dim() != 0 || boundaries.dim() == 1,
      "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
      "boundaries tensor dim(",
      boundaries.dim(), ") and input value's dim(", values.dim(), ") numel(", values.numel(), ")");
  const auto leading = [](const Tensor& t) { return t.sizes().slice(0, t.dim() - 1); };
  TORCH_CHECK(boundaries.dim() == 1 || (values.dim() == boundaries.dim() && leading(values) == leading(boundaries)),
              "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
              "tensor and input value tensor must match, but we got boundaries tensor ",
              boundaries.sizes(), " and input value tensor ", values.sizes());
}

static void check_sorter(const Tensor& sorter, const Tensor& boundaries) {
  if (!sorter.defined()) {
    return;
  }
  TORCH_CHECK(sorter.sizes() == boundaries.sizes(),
              "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ",
              boundaries.sizes(), "and got sorter tensor ", sorter.sizes());
  TORCH_CHECK(sorter.scalar_type() == kLong,
              "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ", sorter.scalar_type());
  check_bounds_stub(sorter.device().type(), sorter.contiguous(), boundaries.sizes()[boundaries.dim() - 1],
                    [](int64_t) { TORCH_CHECK(false, "torch.searchsorted(): sorter index out of range"); });
}

static void warn_of_copy(const char* what, const Tensor& t) {
  if (!t.is_contiguous()) {
    TORCH_WARN_ONCE("torch.searchsorted(): ", what,
                    " is non-contiguous, this will lower the performance due to extra data copy when converting "
                    "non-contiguous tensor to contiguous. Hint: pass a contiguous one, see Tensor.contiguous().");
  }
}

static void search(const Tensor& boundaries, const Tensor& values, bool out_int32, bool right, const Tensor& sorter,
                   Tensor& out) {
  check_shapes(boundaries, values);
  check_sorter(sorter, boundaries);
  const ScalarType dtype = out_int32 ? kInt : kLong;
  TORCH_CHECK(
      !out.defined() || out.scalar_type() == dtype,
      "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending "
      "on whether out_int32 flag is True, but we got output tensor's dtype ",
      out.defined() ? out.scalar_type() : dtype, " and out_int32 flag is ", out_int32 ? "True" : "False");
  const int64_t m = boundaries.sizes()[boundaries.dim() - 1];
  TORCH_CHECK(!out_int32 || m < std::numeric_limits<int32_t>::max(),
              "torch.searchsorted(): the size of boundaries' last dimension should be less than ",
              std::numeric_limits<int32_t>::max(), ", but we got ", m);
  if (!out.defined()) {
    out = detail::empty_generic(values.sizes(), dtype, values.device());
  }
  resize_output(out, values.sizes());
  if (values.numel() == 0) {
    return;
  }
  warn_of_copy("input value tensor", values);
  warn_of_copy("boundary tensor", boundaries);
  if (sorter.defined()) {
    warn_of_copy("sorter tensor", sorter);
  }
  const Tensor result = out.is_contiguous() ? out : detail::empty_generic(values.sizes(), dtype, values.device());
  const ScalarType common = result_type(values, boundaries);
  auto as_rows = [](const Tensor& t, ScalarType type, int64_t rows) {
    return at::reshape(t.scalar_type() == type ? t : cast_to_dtype(t, type), {rows, t.numel() / rows}).contiguous();
  };
  const int64_t rows = boundaries.dim() == 1 || m == 0 ? 1 : boundaries.numel() / m;
  searchsorted_stub(values.device().type(), at::view(result, {rows, values.numel() / rows}),
                    as_rows(values, common, rows), as_rows(boundaries, common, rows),
                    sorter.defined() ? as_rows(sorter, kLong, rows) : sorter, right);
  if (!result.is_same(out)) {
    at::copy_(out, result);
  }
}

static bool is_right(bool right, const std::optional<std::string>& side) {
  TORCH_CHECK(!side.has_value() || *side == "left" || *side == "right",
              "torch.searchsorted(): side can only be 'left' or 'right' but got ", side.value_or(""));
  TORCH_CHECK(!side.has_value() || !right || *side == "right",
              "torch.searchsorted(): side and right can't be set to opposites, got side of ", side.value_or(""),
              " while right was True");
  return right || side.value_or("left") == "right";
}

static void searchsorted_out(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                             const std::optional<std::string>& side, const std::optional<Tensor>& sorter, Tensor& out) {
  search(sorted_sequence, self, out_int32, is_right(right, side), sorter.value_or(Tensor()), out);
}
// Returns the number as a tensor on the device of the boundaries.
static Tensor value_beside(const Scalar& value, const Tensor& boundaries) {
  const Tensor number = detail::wrapped_scalar_tensor(value);
  return boundaries.device().is_cpu() ? number : at::_to_copy(number, std::nullopt, boundaries.device());
}

static void searchsorted_scalar_out(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                                    const std::optional<std::string>& side, const std::optional<Tensor>& sorter,
                                    Tensor& out) {
  searchsorted_out(sorted_sequence, value_beside(self, sorted_sequence), out_int32, right, side, sorter, out);
}

static void bucketize_out(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right, Tensor& out) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  search(boundaries, self, out_int32, right, Tensor(), out);
}
static Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  Tensor out;
  bucketize_out(value_beside(self, boundaries), boundaries, out_int32, right, out);
  return out;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_structured(
      "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
      "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
      TORCH_FN(searchsorted_out), kernels(searchsorted_stub, check_bounds_stub), derive::OUT, FUNCTION);
  m.def_structured(
      "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
      "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
      TORCH_FN(searchsorted_scalar_out), kernels(searchsorted_stub, check_bounds_stub), derive::OUT, FUNCTION);
  m.def_structured(
      "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> "
      "Tensor",
      TORCH_FN(bucketize_out), kernels(searchsorted_stub, check_bounds_stub), derive::OUT, FUNCTION);
  m.def("bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        TORCH_FN(bucketize_scalar), kernels(searchsorted_stub, check_bounds_stub), FUNCTION);
}

} // namespace reftorch::at::native
