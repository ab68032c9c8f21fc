// Mirrors: aten/src/ATen/native/TensorTransformations.cpp
//
// Ops that reorder elements: flip, roll, rotate.
#include <ATen/native/TensorTransformations.h>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <cstdlib>

namespace reftorch::at::native {

DEFINE_DISPATCH(flip_stub)

// --- reversal --------------------------------------------------------------------------------------------------------

// Groups the flipped dimensions into runs, in the order of memory: flipped dimensions that are neighbours in memory are
// merged into one. A matrix flipped in both dimensions is thus reversed as one long row.
static SmallVector<DimShape, 4> flipped_runs(const Tensor& dense, const DimSet& flipped) {
  DimVector order;
  for (int64_t d = 0; d < dense.dim(); d++) {
    if (dense.sizes()[d] > 1) {
      order.push_back(d);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return dense.strides()[a] > dense.strides()[b]; });
  SmallVector<DimShape, 4> runs;
  bool in_run = false;
  int64_t outer = 1;
  for (int64_t d : order) {
    if (flipped[d] && in_run) {
      runs.back().n *= dense.sizes()[d];
    } else if (flipped[d]) {
      runs.push_back({outer, dense.sizes()[d], 1});
    }
    in_run = flipped[d];
    outer *= dense.sizes()[d];
  }
  for (DimShape& run : runs) {
    run.inner = outer / (run.outer * run.n);
  }
  return runs;
}

// Each run takes one pass over the elements; the last pass writes the result.
static Tensor flip(const Tensor& self, IntArrayRef dims) {
  const auto flipped = dim_list_to_bitset(dims, self.dim());
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  const auto runs = self.numel() > 0 ? flipped_runs(result, flipped) : SmallVector<DimShape, 4>();
  Tensor current = self;
  if (runs.empty() || self.strides() != result.strides()) {
    current = runs.empty() ? result : empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
    at::copy_(current, self);
  }
  for (size_t k = 0; k < runs.size(); k++) {
    const Tensor next =
        k + 1 == runs.size() ? result : detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
    flip_stub(self.device().type(), next, current, runs[k]);
    current = next;
  }
  return result;
}

static Tensor fliplr(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return at::flip(self, IntArrayRef(1));
}

static Tensor flipud(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return at::flip(self, IntArrayRef(0));
}

// --- roll: elements that leave at one end enter at the other end -----------------------------------------------------

static Tensor roll_dim(const Tensor& self, int64_t shift, int64_t dim) {
  Tensor result = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  if (self.numel() == 0) { // an empty tensor is rolled along any dim, even one out of range, as in PyTorch
    return result;
  }
  dim = maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  const int64_t size = self.sizes()[dim];
  shift %= size;
  shift += shift < 0 ? size : 0;
  Tensor head = at::narrow(result, dim, 0, shift), tail = at::narrow(result, dim, shift, size - shift);
  at::copy_(head, at::narrow(self, dim, size - shift, shift));
  at::copy_(tail, at::narrow(self, dim, 0, size - shift));
  return result;
}

static Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) { // rolls the flattened tensor
    const Tensor flat = at::reshape(self, IntArrayRef(-1));
    return at::reshape(roll_dim(flat, shifts[0], 0), self.sizes());
  }
  TORCH_CHECK(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
              ", dims:", dims.size());
  Tensor result = self;
  for (size_t i = 0; i < dims.size(); i++) {
    result = roll_dim(result, shifts[i], dims[i]);
  }
  return result;
}

// A quarter turn reverses one of the two dimensions and swaps them.
static Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TORCH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t dim0 = maybe_wrap_dim(dims[0], self.dim()), dim1 = maybe_wrap_dim(dims[1], self.dim());
  TORCH_CHECK(dim0 != dim1, "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return at::transpose(at::flip(self, IntArrayRef(dim1)), dim0, dim1);
    case 2: return at::flip(self, {dim0, dim1});
    case 3: return at::transpose(at::flip(self, IntArrayRef(dim0)), dim0, dim1);
    default: return at::clone(self, MemoryFormat::Contiguous);
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("flip(Tensor self, int[] dims) -> Tensor", TORCH_FN(flip), kernels(flip_stub));
  m.def_composite("fliplr(Tensor self) -> Tensor", TORCH_FN(fliplr));
  m.def_composite("flipud(Tensor self) -> Tensor", TORCH_FN(flipud));
  m.def("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", TORCH_FN(roll));
  m.def("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", TORCH_FN(rot90));
}

} // namespace reftorch::at::native
