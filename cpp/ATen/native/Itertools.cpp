// Mirrors: aten/src/ATen/native/Itertools.cpp, aten/src/ATen/native/TensorShape.cpp (meshgrid, block_diag)
// Every pair, every choice: grids and products of vectors, and blocks along a diagonal.
#include <ATen/ShapeFunctions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <numeric>

namespace reftorch::at::native {

// tensors[i] (n_i), seen along dimension i of the shape (n_0, n_1, ...): 'ij'. 'xy' swaps the first two, as plots do.
static std::vector<Tensor> meshgrid_indexing(TensorList tensors, std::string indexing) {
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

// The next choice of places in the order of a dictionary; false after the last.
static bool advance(std::vector<int64_t>& places, int64_t n, bool with_replacement) {
  const int64_t r = static_cast<int64_t>(places.size());
  for (int64_t i = r - 1; i >= 0; i--) {
    if (places[i] < (with_replacement ? n - 1 : n - r + i)) {
      places[i]++;
      for (int64_t j = i + 1; j < r; j++) {
        places[j] = with_replacement ? places[i] : places[j - 1] + 1;
      }
      return true;
    }
  }
  return false;
}

static Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check_vector(self);
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) {
    return at::empty(IntArrayRef(0), self.scalar_type(), self.device());
  }
  const int64_t n = self.numel();
  std::vector<int64_t> taken;
  if (with_replacement ? n > 0 : n >= r) {
    std::vector<int64_t> places(static_cast<size_t>(r), 0);
    if (!with_replacement) {
      std::iota(places.begin(), places.end(), 0);
    }
    do {
      taken.insert(taken.end(), places.begin(), places.end());
    } while (advance(places, n, with_replacement));
  }
  Tensor index = detail::empty_generic(static_cast<int64_t>(taken.size()), kLong);
  if (!taken.empty()) {
    std::copy(taken.begin(), taken.end(), index.data_ptr<int64_t>());
  }
  return at::reshape(at::index_select(self, 0, index), {static_cast<int64_t>(taken.size()) / r, r});
}

// --- blocks ----------------------------------------------------------------------------------------------------------

// A vector is a row, a number a 1 x 1 block.
static Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) {
    return empty_cpu({1, 0}, std::nullopt, std::nullopt);
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
  Tensor result = empty_cpu({rows, cols}, result_type(tensors), tensors[0].device());
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
  m.def("block_diag(Tensor[] tensors) -> Tensor", TORCH_FN(block_diag), kernels(fill_stub), FUNCTION);
}

} // namespace reftorch::at::native
