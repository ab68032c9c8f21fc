// Mirrors: aten/src/ATen/native/Itertools.cpp, aten/src/ATen/native/TensorShape.cpp (meshgrid, block_diag)
//
// Pairs and combinations: grids and products of vectors, and blocks along a diagonal.
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <limits>

namespace reftorch::at::native {

// Returns each tensors[i] (n_i) broadcast to the shape (n_0, n_1, ...) along dimension i: 'ij'. 'xy' swaps the first
// two dimensions, as plots do.
static std::vector<Tensor> meshgrid_indexing(TensorList tensors, const std::string& indexing) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.scalar_type() == tensors[0].scalar_type(), "meshgrid expects all tensors to have the same dtype");
    TORCH_CHECK(t.device() == tensors[0].device(), "meshgrid expects all tensors to have the same device");
  }
  TORCH_CHECK(indexing == "xy" || indexing == "ij",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> axes(tensors.begin(), tensors.end());
  if (swap) {
    std::swap(axes[0], axes[1]);
  }
  DimVector shape;
  for (const Tensor& t : axes) {
    TORCH_CHECK(t.dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: a tensor of shape ",
                t.sizes());
    shape.push_back(t.numel());
  }
  std::vector<Tensor> grids;
  for (size_t i = 0; i < axes.size(); i++) {
    DimVector along(shape.size(), 1);
    along[i] = shape[i];
    grids.push_back(at::expand(at::view(axes[i], along), shape));
  }
  if (swap) {
    std::swap(grids[0], grids[1]);
  }
  return grids;
}

static std::vector<Tensor> meshgrid(TensorList tensors) {
  return meshgrid_indexing(tensors, "ij");
}

static void check_vector(const Tensor& t) {
  TORCH_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
}

static Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors) {
    check_vector(t);
  }
  if (tensors.size() == 1) {
    return tensors[0];
  }
  std::vector<Tensor> columns = at::meshgrid(tensors, "ij");
  for (Tensor& grid : columns) {
    grid = at::flatten(grid);
  }
  return at::stack(columns, 1);
}

// The number of ways to choose r of n: n (n - 1) ... (n - r + 1) / r!. With replacement there are as many ways as to
// choose r of n + r - 1.
static int64_t number_of_combinations(int64_t n, int64_t r, bool with_replacement) {
  const __int128 from = with_replacement ? __int128(n) + r - 1 : n;
  if (n == 0 || from < r) {
    return 0;
  }
  __int128 count = 1;
  for (__int128 i = 1; i <= std::min<__int128>(r, from - r); i++) {
    count = count * (from - std::min<__int128>(r, from - r) + i) / i; // the division is exact at every step
    TORCH_CHECK(count * r <= std::numeric_limits<int64_t>::max() / 8, "combinations: there are more ways to choose ", r,
                " of ", n, " elements than a tensor can hold");
  }
  return static_cast<int64_t>(count);
}

static Tensor integer(int64_t value) {
  return detail::wrapped_scalar_tensor(value);
}

// 0, 1, ..., n - 1
static Tensor count_up(int64_t n, Device device) {
  return at::sub(at::cumsum(at::ones_like(at::zeros(n, kLong, device)), 0), integer(1));
}

// All choices of r positions out of n in lexicographic order: (count, r). The choices grow one column at a time: each
// choice of k positions is continued with every position that may come next.
static Tensor combinations_of_places(int64_t n, int64_t r, bool with_replacement, Device device) {
  Tensor chosen = at::unsqueeze(count_up(with_replacement ? n : n - r + 1, device), 1);
  for (int64_t k = 2; k <= r; k++) {
    const Tensor last = at::select(chosen, 1, k - 2);
    const Tensor first = with_replacement ? last : at::add(last, integer(1));
    // The new position is below `end`; otherwise too few positions would remain for the columns that follow.
    const int64_t end = with_replacement ? n : n - r + k;
    const Tensor ways = at::sub(integer(end), first);
    const int64_t total = number_of_combinations(with_replacement ? n : end, k, with_replacement);
    const Tensor parent = at::repeat_interleave(ways, std::optional<int64_t>(total)); // as many copies as `ways` says
    const Tensor start = at::sub(at::cumsum(ways, 0), ways);
    const Tensor next = at::add(at::sub(count_up(total, device), at::index_select(start, 0, parent)),
                                at::index_select(first, 0, parent));
    chosen = at::cat({at::index_select(chosen, 0, parent), at::unsqueeze(next, 1)}, 1);
  }
  return chosen;
}

static Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check_vector(self);
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) {
    return at::empty(IntArrayRef(0), self.scalar_type(), self.device());
  }
  const int64_t n = self.numel(), count = number_of_combinations(n, r, with_replacement);
  if (count == 0) { // no element is taken, and each has a gradient of zero
    return at::reshape(at::index_select(self, 0, at::empty(IntArrayRef(0), kLong, self.device())), {0, r});
  }
  const Tensor places = combinations_of_places(n, r, with_replacement, self.device());
  return at::reshape(at::index_select(self, 0, at::reshape(places, {-1})), {count, r});
}

// --- blocks ----------------------------------------------------------------------------------------------------------

// A vector counts as a matrix of one row, and a number as a 1 x 1 block.
static Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) {
    return empty_impl({1, 0}, std::nullopt, std::nullopt);
  }
  int64_t rows = 0, cols = 0;
  auto rows_of = [](const Tensor& t) { return t.dim() == 2 ? t.sizes()[0] : 1; };
  auto cols_of = [](const Tensor& t) { return t.dim() == 0 ? 1 : t.sizes()[t.dim() - 1]; };
  for (size_t i = 0; i < tensors.size(); i++) {
    TORCH_CHECK(tensors[i].dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i,
                " has ", tensors[i].dim(), " dimensions");
    rows += rows_of(tensors[i]);
    cols += cols_of(tensors[i]);
  }
  Tensor result = empty_impl({rows, cols}, result_type(tensors), tensors[0].device());
  zero_impl(result);
  int64_t row = 0, col = 0;
  for (const Tensor& t : tensors) {
    Tensor block = at::narrow(at::narrow(result, 0, row, rows_of(t)), 1, col, cols_of(t));
    at::copy_(block, t);
    row += rows_of(t);
    col += cols_of(t);
  }
  return result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("meshgrid(Tensor[] tensors) -> Tensor[]", TORCH_FN(meshgrid), FUNCTION);
  m.def_composite("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", TORCH_FN(meshgrid_indexing),
                  FUNCTION);
  m.def_composite("cartesian_prod(Tensor[] tensors) -> Tensor", TORCH_FN(cartesian_prod), FUNCTION);
  m.def_composite("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", TORCH_FN(combinations),
                  FUNCTION);
  m.def("block_diag(Tensor[] tensors) -> Tensor", TORCH_FN(block_diag), kernels(fill_stub, zero_stub), FUNCTION);
}

} // namespace reftorch::at::native
