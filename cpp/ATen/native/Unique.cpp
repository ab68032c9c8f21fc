// Mirrors: aten/src/ATen/native/Unique.cpp
//
// These ops find distinct elements or slices: they sort the rows and count equal neighbours as one. Left out: hashing
// where the caller asks for no order (PyTorch sorts there too).
#include <ATen/native/Unique.h>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/Sorting.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(order_rows_stub)
DEFINE_DISPATCH(run_starts_stub)
DEFINE_DISPATCH(find_runs_stub)

using Unique = std::tuple<Tensor, Tensor, Tensor>;

static Tensor nothing(const Tensor& self) {
  return detail::empty_generic(int64_t(0), kLong, self.device());
}

static Unique unique_elements(const Tensor& self, bool sort, bool return_inverse, bool return_counts) {
  Tensor flat = at::reshape(self.contiguous(), {-1}), places;
  if (sort && flat.numel() > 0) {
    const Tensor sorted = detail::empty_generic(flat.sizes(), flat.scalar_type(), flat.device());
    places = detail::empty_generic(flat.sizes(), kLong, flat.device());
    sort_stub(flat.device().type(), sorted, places, flat, 0, /*descending=*/false);
    flat = sorted;
  }
  if (!return_inverse && !return_counts) {
    const Tensor starts = run_starts_stub(flat.device().type(), at::view(flat, {-1, 1}), Tensor());
    return {masked_select_stub(flat.device().type(), flat, starts), nothing(self), nothing(self)};
  }
  const Runs runs = find_runs_stub(flat.device().type(), at::view(flat, {-1, 1}), Tensor(), places, return_inverse);
  return {at::index_select(flat, 0, runs.first), return_inverse ? at::view(runs.inverse, self.sizes()) : nothing(self),
          return_counts ? runs.counts : nothing(self)};
}

static Unique unique_slices(const Tensor& self, int64_t dim, bool sort) {
  const int64_t n = self.size(dim);
  dim = maybe_wrap_dim(dim, self.dim());
  if (self.numel() == 0) {
    int64_t zeros = 0;
    for (int64_t size : self.sizes()) {
      zeros += size == 0;
    }
    TORCH_CHECK(n == 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    TORCH_CHECK(zeros == 1, "Number of zero sized dimensions is more than one, so unique cannot be applied ");
    return {empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous), nothing(self),
            nothing(self)};
  }
  DimVector order(1, dim), back; // `order` moves the dimension of the slices to the front, `back` moves it back
  for (int64_t d = 0; d < self.dim(); d++) {
    if (d != dim) {
      order.push_back(d);
    }
    back.push_back(d == dim ? 0 : d < dim ? d + 1 : d);
  }
  const Tensor slices = (self.dim() == 0 ? at::view(self, {1}) : at::permute(self, order)).contiguous();
  const Tensor rows = at::view(slices, {n, -1});
  const Tensor places = sort ? order_rows_stub(rows.device().type(), rows) : Tensor();
  Runs runs = find_runs_stub(rows.device().type(), rows, places, places, /*want_inverse=*/true);
  if (places.defined()) {
    runs.first = at::index_select(places, 0, runs.first);
  }
  return {at::permute(at::index_select(slices, 0, runs.first), self.dim() == 0 ? DimVector(1, 0) : back), runs.inverse,
          runs.counts};
}

static Unique _unique2(const Tensor& self, bool /*sorted: it always is*/, bool return_inverse, bool return_counts) {
  return unique_elements(self, /*sort=*/true, return_inverse, return_counts);
}

static std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  const Unique result = _unique2(self, sorted, return_inverse, /*return_counts=*/false);
  return {std::get<0>(result), std::get<1>(result)};
}

// unique_dim always returns the inverse and the counts, even where the caller does not ask for them.
static Unique unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/,
                         bool /*return_counts*/) {
  return unique_slices(self, dim, /*sort=*/true);
}

// Compares neighbours only; nothing is sorted.
static Unique unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                 std::optional<int64_t> dim) {
  if (!dim.has_value() || (self.dim() == 1 && maybe_wrap_dim(*dim, 1) == 0)) {
    return unique_elements(self, /*sort=*/false, return_inverse, return_counts);
  }
  return unique_slices(self, *dim, /*sort=*/false);
}

static Unique unique_dim_consecutive(const Tensor& self, int64_t dim, bool /*return_inverse*/, bool /*return_counts*/) {
  return unique_slices(self, dim, /*sort=*/false);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", TORCH_FN(_unique),
        kernels(masked_select_stub, run_starts_stub, find_runs_stub, sort_stub), tags(Tag::dynamic_output_shape),
        FUNCTION);
  m.def(
      "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
      "Tensor, Tensor)",
      TORCH_FN(_unique2), kernels(masked_select_stub, run_starts_stub, find_runs_stub, sort_stub),
      tags(Tag::dynamic_output_shape), FUNCTION);
  m.def(
      "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
      "(Tensor, Tensor, Tensor)",
      TORCH_FN(unique_dim), kernels(order_rows_stub, find_runs_stub), tags(Tag::dynamic_output_shape), FUNCTION);
  m.def(
      "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
      "(Tensor, Tensor, Tensor)",
      TORCH_FN(unique_consecutive), kernels(masked_select_stub, run_starts_stub, find_runs_stub),
      tags(Tag::dynamic_output_shape), FUNCTION);
  m.def(
      "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> "
      "(Tensor, Tensor, Tensor)",
      TORCH_FN(unique_dim_consecutive), kernels(find_runs_stub), tags(Tag::dynamic_output_shape), FUNCTION);
}

} // namespace reftorch::at::native
