// Mirrors: aten/src/ATen/native/TensorShape.cpp (hstack, vstack, dstack, column_stack, concat, tile, ...)
//
// Ops that join tensors, composed of cat and repeat.
#include <ATen/Functions.h>
#include <ATen/core/library.h>

#include <algorithm>

namespace reftorch::at::native {

static Tensor concat(TensorList tensors, int64_t dim) {
  return at::cat(tensors, dim);
}

static Tensor& concat_out(TensorList tensors, int64_t dim, Tensor& out) {
  return at::cat_out(out, tensors, dim);
}

// Adds dimensions of size 1 until each tensor has `ndim`: a number and a vector become a row first, and a matrix gets a
// new last dimension.
static std::vector<Tensor> at_least(TensorList tensors, int64_t ndim) {
  std::vector<Tensor> result;
  for (Tensor t : tensors) {
    while (t.dim() < std::min<int64_t>(ndim, 2)) {
      t = at::unsqueeze(t, 0);
    }
    result.push_back(t.dim() < ndim ? at::unsqueeze(t, -1) : t);
  }
  return result;
}

// The tensors to join, and the dimension to join them along.
struct Join {
  std::vector<Tensor> tensors;
  int64_t dim;
};

static Join hstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) {
    rows.push_back(t.dim() == 0 ? at::unsqueeze(t, 0) : t);
  }
  return {rows, rows[0].dim() == 1 ? 0 : 1};
}

static Join vstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return {at_least(tensors, 2), 0};
}

static Join dstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "dstack expects a non-empty TensorList");
  return {at_least(tensors, 3), 2};
}

static Join column_stack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> columns;
  for (const Tensor& t : tensors) {
    columns.push_back(t.dim() <= 1 ? at::reshape(t, {t.numel(), 1}) : t);
  }
  return {columns, 1};
}

template <Join (*prepare)(TensorList)>
static Tensor joined(TensorList tensors) {
  const Join join = prepare(tensors);
  return at::cat(join.tensors, join.dim);
}
template <Join (*prepare)(TensorList)>
static Tensor& joined_out(TensorList tensors, Tensor& out) {
  const Join join = prepare(tensors);
  return at::cat_out(out, join.tensors, join.dim);
}

// repeat, where each leading dimension that `dims` does not name is repeated once.
static Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(static_cast<size_t>(std::max<int64_t>(self.dim() - static_cast<int64_t>(dims.size()), 0)), 1);
  repeats.append(dims.begin(), dims.end());
  return at::repeat(self, repeats);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("concat(Tensor[] tensors, int dim=0) -> Tensor", TORCH_FN(concat), FUNCTION);
  m.def("concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(concat_out), FUNCTION);
  m.def_composite("concatenate(Tensor[] tensors, int dim=0) -> Tensor", TORCH_FN(concat), FUNCTION);
  m.def("concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(concat_out),
        FUNCTION);
  m.def_composite("hstack(Tensor[] tensors) -> Tensor", TORCH_FN(joined<hstack>), FUNCTION);
  m.def("hstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(joined_out<hstack>), FUNCTION);
  m.def_composite("vstack(Tensor[] tensors) -> Tensor", TORCH_FN(joined<vstack>), FUNCTION);
  m.def("vstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(joined_out<vstack>), FUNCTION);
  m.def_composite("row_stack(Tensor[] tensors) -> Tensor", TORCH_FN(joined<vstack>), FUNCTION);
  m.def("row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(joined_out<vstack>), FUNCTION);
  m.def_composite("dstack(Tensor[] tensors) -> Tensor", TORCH_FN(joined<dstack>), FUNCTION);
  m.def("dstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(joined_out<dstack>), FUNCTION);
  m.def_composite("column_stack(Tensor[] tensors) -> Tensor", TORCH_FN(joined<column_stack>), FUNCTION);
  m.def("column_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(joined_out<column_stack>),
        FUNCTION);
  m.def_composite("tile(Tensor self, int[] dims) -> Tensor", TORCH_FN(tile));
}

} // namespace reftorch::at::native
