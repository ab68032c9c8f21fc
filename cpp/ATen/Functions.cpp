// Mirrors: aten/src/ATen/templates/Functions.cpp
#include <ATen/Functions.h>

#include <ATen/core/dispatch/CallOp.h>

namespace reftorch::at {

using OptionalType = std::optional<ScalarType>;
using OptionalDevice = std::optional<Device>;
using OptionalLayout = std::optional<c10::Layout>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

Tensor empty(IntArrayRef size, OptionalType dtype, OptionalDevice device) {
  CALL_OP("empty", Tensor(IntArrayRef, OptionalType, OptionalLayout, OptionalDevice, OptionalBool, OptionalFormat),
          size, dtype, std::nullopt, device, std::nullopt, std::nullopt);
}
Tensor zeros(IntArrayRef size, OptionalType dtype, OptionalDevice device) {
  CALL_OP("zeros", Tensor(IntArrayRef, OptionalType, OptionalLayout, OptionalDevice, OptionalBool), size, dtype,
          std::nullopt, device, std::nullopt);
}
Tensor zeros_like(const Tensor& self) {
  CALL_OP("zeros_like",
          Tensor(const Tensor&, OptionalType, OptionalLayout, OptionalDevice, OptionalBool, OptionalFormat), self,
          std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}
Tensor ones_like(const Tensor& self) {
  CALL_OP("ones_like",
          Tensor(const Tensor&, OptionalType, OptionalLayout, OptionalDevice, OptionalBool, OptionalFormat), self,
          std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  CALL_OP("add.Tensor", Tensor(const Tensor&, const Tensor&, const Scalar&), self, other, alpha);
}
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  CALL_OP("add_.Tensor", Tensor & (Tensor&, const Tensor&, const Scalar&), self, other, alpha);
}
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  CALL_OP("sub.Tensor", Tensor(const Tensor&, const Tensor&, const Scalar&), self, other, alpha);
}
Tensor mul(const Tensor& self, const Tensor& other) {
  CALL_OP("mul.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor& mul_(Tensor& self, const Tensor& other) {
  CALL_OP("mul_.Tensor", Tensor & (Tensor&, const Tensor&), self, other);
}
Tensor div(const Tensor& self, const Tensor& other) {
  CALL_OP("div.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other) {
  CALL_OP("div.Tensor_out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, other, out);
}
Tensor& div_(Tensor& self, const Tensor& other) {
  CALL_OP("div_.Tensor", Tensor & (Tensor&, const Tensor&), self, other);
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
  CALL_OP("floor_divide", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor remainder(const Tensor& self, const Tensor& other) {
  CALL_OP("remainder.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor pow(const Tensor& self, const Tensor& exponent) {
  CALL_OP("pow.Tensor_Tensor", Tensor(const Tensor&, const Tensor&), self, exponent);
}
Tensor pow(const Tensor& self, const Scalar& exponent) {
  CALL_OP("pow.Tensor_Scalar", Tensor(const Tensor&, const Scalar&), self, exponent);
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  CALL_OP("pow.Scalar", Tensor(const Scalar&, const Tensor&), self, exponent);
}
Tensor& pow_out(Tensor& out, const Tensor& self, const Scalar& exponent) {
  CALL_OP("pow.Tensor_Scalar_out", Tensor & (const Tensor&, const Scalar&, Tensor&), self, exponent, out);
}
Tensor& pow_(Tensor& self, const Scalar& exponent) {
  CALL_OP("pow_.Tensor_Scalar", Tensor & (Tensor&, const Scalar&), self, exponent);
}
Tensor& pow_out(Tensor& out, const Tensor& self, const Tensor& exponent) {
  CALL_OP("pow.Tensor_Tensor_out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, exponent, out);
}
Tensor& pow_(Tensor& self, const Tensor& exponent) {
  CALL_OP("pow_.Tensor_Tensor", Tensor & (Tensor&, const Tensor&), self, exponent);
}
Tensor maximum(const Tensor& self, const Tensor& other) {
  CALL_OP("maximum", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  CALL_OP("minimum", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor abs(const Tensor& self) {
  CALL_OP("abs", Tensor(const Tensor&), self);
}
Tensor exp(const Tensor& self) {
  CALL_OP("exp", Tensor(const Tensor&), self);
}
Tensor log(const Tensor& self) {
  CALL_OP("log", Tensor(const Tensor&), self);
}
Tensor floor(const Tensor& self) {
  CALL_OP("floor", Tensor(const Tensor&), self);
}
Tensor ceil(const Tensor& self) {
  CALL_OP("ceil", Tensor(const Tensor&), self);
}
Tensor round(const Tensor& self) {
  CALL_OP("round", Tensor(const Tensor&), self);
}
Tensor sqrt(const Tensor& self) {
  CALL_OP("sqrt", Tensor(const Tensor&), self);
}
Tensor logical_not(const Tensor& self) {
  CALL_OP("logical_not", Tensor(const Tensor&), self);
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  CALL_OP("lerp.Tensor", Tensor(const Tensor&, const Tensor&, const Tensor&), self, end, weight);
}
Tensor eq(const Tensor& self, const Tensor& other) {
  CALL_OP("eq.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor ne(const Tensor& self, const Tensor& other) {
  CALL_OP("ne.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor lt(const Tensor& self, const Tensor& other) {
  CALL_OP("lt.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor le(const Tensor& self, const Tensor& other) {
  CALL_OP("le.Tensor", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor logical_and(const Tensor& self, const Tensor& other) {
  CALL_OP("logical_and", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor logical_or(const Tensor& self, const Tensor& other) {
  CALL_OP("logical_or", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  CALL_OP("where.self", Tensor(const Tensor&, const Tensor&, const Tensor&), condition, self, other);
}
Tensor all(const Tensor& self) {
  CALL_OP("all", Tensor(const Tensor&), self);
}
Tensor var(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  CALL_OP("var.correction", Tensor(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool), self,
          dim, correction, keepdim);
}
Tensor std(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  CALL_OP("std.correction", Tensor(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool), self,
          dim, correction, keepdim);
}
Tensor& var_out(Tensor& out, const Tensor& self, std::optional<IntArrayRef> dim,
                const std::optional<Scalar>& correction, bool keepdim) {
  using Sig = Tensor&(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool, Tensor&);
  CALL_OP("var.correction_out", Sig, self, dim, correction, keepdim, out);
}
Tensor& std_out(Tensor& out, const Tensor& self, std::optional<IntArrayRef> dim,
                const std::optional<Scalar>& correction, bool keepdim) {
  using Sig = Tensor&(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool, Tensor&);
  CALL_OP("std.correction_out", Sig, self, dim, correction, keepdim, out);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool);
  CALL_OP("var_mean.correction", Sig, self, dim, correction, keepdim);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, std::optional<IntArrayRef>, const std::optional<Scalar>&, bool);
  CALL_OP("std_mean.correction", Sig, self, dim, correction, keepdim);
}
Tensor nansum(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, OptionalType dtype) {
  CALL_OP("nansum", Tensor(const Tensor&, std::optional<IntArrayRef>, bool, OptionalType), self, dim, keepdim, dtype);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  CALL_OP("norm.ScalarOpt_dim", Tensor(const Tensor&, const std::optional<Scalar>&, IntArrayRef, bool), self, p, dim,
          keepdim);
}
Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  CALL_OP("_cdist_forward", Tensor(const Tensor&, const Tensor&, double, std::optional<int64_t>), x1, x2, p,
          compute_mode);
}
Tensor cumsum(const Tensor& self, int64_t dim) {
  CALL_OP("cumsum", Tensor(const Tensor&, int64_t, OptionalType), self, dim, std::nullopt);
}
Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  CALL_OP("amax", Tensor(const Tensor&, IntArrayRef, bool), self, dim, keepdim);
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  CALL_OP("amin", Tensor(const Tensor&, IntArrayRef, bool), self, dim, keepdim);
}
Tensor& maximum_out(Tensor& out, const Tensor& self, const Tensor& other) {
  CALL_OP("maximum.out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, other, out);
}
Tensor& minimum_out(Tensor& out, const Tensor& self, const Tensor& other) {
  CALL_OP("minimum.out", Tensor & (const Tensor&, const Tensor&, Tensor&), self, other, out);
}
Tensor neg(const Tensor& self) {
  CALL_OP("neg", Tensor(const Tensor&), self);
}
Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim) {
  CALL_OP("sum.dim_IntList", Tensor(const Tensor&, std::optional<IntArrayRef>, bool, OptionalType), self, dim, keepdim,
          std::nullopt);
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  CALL_OP("copy_", Tensor & (Tensor&, const Tensor&, bool), self, src, non_blocking);
}
Tensor& fill_(Tensor& self, const Scalar& value) {
  CALL_OP("fill_.Scalar", Tensor & (Tensor&, const Scalar&), self, value);
}
Tensor& zero_(Tensor& self) {
  CALL_OP("zero_", Tensor & (Tensor&), self);
}
Tensor& uniform_(Tensor& self, double from, double to, const std::optional<Generator>& generator) {
  CALL_OP("uniform_", Tensor & (Tensor&, double, double, const std::optional<Generator>&), self, from, to, generator);
}
Tensor& normal_(Tensor& self, double mean, double std, const std::optional<Generator>& generator) {
  CALL_OP("normal_", Tensor & (Tensor&, double, double, const std::optional<Generator>&), self, mean, std, generator);
}
Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to, const std::optional<Generator>& generator) {
  CALL_OP("random_.from", Tensor & (Tensor&, int64_t, std::optional<int64_t>, const std::optional<Generator>&), self,
          from, to, generator);
}
Tensor clone(const Tensor& self, OptionalFormat memory_format) {
  CALL_OP("clone", Tensor(const Tensor&, OptionalFormat), self, memory_format);
}
Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  CALL_OP("contiguous", Tensor(const Tensor&, MemoryFormat), self, memory_format);
}
Tensor to(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy) {
  CALL_OP("to.dtype", Tensor(const Tensor&, ScalarType, bool, bool, OptionalFormat), self, dtype, non_blocking, copy,
          std::nullopt);
}
Tensor _to_copy(const Tensor& self, OptionalType dtype, OptionalDevice device, bool non_blocking,
                OptionalFormat memory_format) {
  CALL_OP("_to_copy",
          Tensor(const Tensor&, OptionalType, OptionalLayout, OptionalDevice, OptionalBool, bool, OptionalFormat), self,
          dtype, std::nullopt, device, std::nullopt, non_blocking, memory_format);
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  CALL_OP("as_strided", Tensor(const Tensor&, IntArrayRef, IntArrayRef, std::optional<int64_t>), self, size, stride,
          storage_offset);
}
Tensor view(const Tensor& self, IntArrayRef size) {
  CALL_OP("view", Tensor(const Tensor&, IntArrayRef), self, size);
}
Tensor _unsafe_view(const Tensor& self, IntArrayRef size) {
  CALL_OP("_unsafe_view", Tensor(const Tensor&, IntArrayRef), self, size);
}
Tensor reshape(const Tensor& self, IntArrayRef shape) {
  CALL_OP("reshape", Tensor(const Tensor&, IntArrayRef), self, shape);
}
Tensor expand(const Tensor& self, IntArrayRef size) {
  CALL_OP("expand", Tensor(const Tensor&, IntArrayRef, bool), self, size, false);
}
Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  CALL_OP("select.int", Tensor(const Tensor&, int64_t, int64_t), self, dim, index);
}
Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  CALL_OP("slice.Tensor", Tensor(const Tensor&, int64_t, std::optional<int64_t>, std::optional<int64_t>, int64_t), self,
          dim, start, end, step);
}
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  CALL_OP("narrow", Tensor(const Tensor&, int64_t, int64_t, int64_t), self, dim, start, length);
}
Tensor unsqueeze(const Tensor& self, int64_t dim) {
  CALL_OP("unsqueeze", Tensor(const Tensor&, int64_t), self, dim);
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  CALL_OP("squeeze.dim", Tensor(const Tensor&, int64_t), self, dim);
}
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  CALL_OP("transpose.int", Tensor(const Tensor&, int64_t, int64_t), self, dim0, dim1);
}
Tensor t(const Tensor& self) {
  CALL_OP("t", Tensor(const Tensor&), self);
}
Tensor permute(const Tensor& self, IntArrayRef dims) {
  CALL_OP("permute", Tensor(const Tensor&, IntArrayRef), self, dims);
}
Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  CALL_OP("diagonal", Tensor(const Tensor&, int64_t, int64_t, int64_t), self, offset, dim1, dim2);
}
Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  CALL_OP("diag_embed", Tensor(const Tensor&, int64_t, int64_t, int64_t), self, offset, dim1, dim2);
}
std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  CALL_OP("split.Tensor", std::vector<Tensor>(const Tensor&, int64_t, int64_t), self, split_size, dim);
}
std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  CALL_OP("split_with_sizes", std::vector<Tensor>(const Tensor&, IntArrayRef, int64_t), self, split_sizes, dim);
}
Tensor cat(TensorList tensors, int64_t dim) {
  CALL_OP("cat", Tensor(TensorList, int64_t), tensors, dim);
}
Tensor detach(const Tensor& self) {
  CALL_OP("detach", Tensor(const Tensor&), self);
}
Tensor alias(const Tensor& self) {
  CALL_OP("alias", Tensor(const Tensor&), self);
}

static Tensor sum_of_all(const Tensor& self) {
  CALL_OP("sum", Tensor(const Tensor&, OptionalType), self, std::nullopt);
}

Tensor sum_to(const Tensor& tensor, IntArrayRef shape) {
  if (tensor.sizes() == shape) {
    return tensor;
  }
  if (shape.empty()) {
    return sum_of_all(tensor);
  }
  const int64_t leading = tensor.dim() - static_cast<int64_t>(shape.size());
  DimVector reduce_dims;
  for (int64_t i = 0; i < tensor.dim(); i++) {
    if (i < leading || (shape[i - leading] == 1 && tensor.sizes()[i] != 1)) {
      reduce_dims.push_back(i);
    }
  }
  const Tensor summed = reduce_dims.empty() ? tensor : sum(tensor, reduce_dims, /*keepdim=*/true);
  return leading > 0 ? view(summed, shape) : summed;
}

Tensor index(const Tensor& self, TensorList indices) {
  CALL_OP("index.Tensor", Tensor(const Tensor&, TensorList), self, indices);
}
Tensor& index_put_(Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  CALL_OP("index_put_", Tensor & (Tensor&, TensorList, const Tensor&, bool), self, indices, values, accumulate);
}

Tensor nonzero(const Tensor& self) {
  CALL_OP("nonzero", Tensor(const Tensor&), self);
}
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  CALL_OP("index_select", Tensor(const Tensor&, int64_t, const Tensor&), self, dim, index);
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, int64_t, bool);
  CALL_OP("sort", Sig, self, dim, descending);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  CALL_OP("scatter.value", Tensor(const Tensor&, int64_t, const Tensor&, const Scalar&), self, dim, index, value);
}
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool right) {
  using Sig =
      Tensor(const Tensor&, const Tensor&, bool, bool, const std::optional<std::string>&, const std::optional<Tensor>&);
  CALL_OP("searchsorted.Tensor", Sig, sorted_sequence, self, false, right, std::nullopt, std::nullopt);
}
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  CALL_OP("gather", Tensor(const Tensor&, int64_t, const Tensor&, bool), self, dim, index, sparse_grad);
}
Tensor mm(const Tensor& self, const Tensor& mat2) {
  CALL_OP("mm", Tensor(const Tensor&, const Tensor&), self, mat2);
}
Tensor mv(const Tensor& self, const Tensor& vec) {
  CALL_OP("mv", Tensor(const Tensor&, const Tensor&), self, vec);
}
Tensor dot(const Tensor& self, const Tensor& tensor) {
  CALL_OP("dot", Tensor(const Tensor&, const Tensor&), self, tensor);
}
Tensor bmm(const Tensor& self, const Tensor& mat2) {
  CALL_OP("bmm", Tensor(const Tensor&, const Tensor&), self, mat2);
}
Tensor matmul(const Tensor& self, const Tensor& other) {
  CALL_OP("matmul", Tensor(const Tensor&, const Tensor&), self, other);
}
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  CALL_OP("addmm", Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&), self, mat1, mat2,
          beta, alpha);
}

Tensor mean(const Tensor& self, OptionalType dtype) {
  CALL_OP("mean", Tensor(const Tensor&, OptionalType), self, dtype);
}
Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  CALL_OP("_softmax", Tensor(const Tensor&, int64_t, bool), self, dim, half_to_float);
}
Tensor& _softmax_out(Tensor& out, const Tensor& self, int64_t dim, bool half_to_float) {
  CALL_OP("_softmax.out", Tensor & (const Tensor&, int64_t, bool, Tensor&), self, dim, half_to_float, out);
}
Tensor& _log_softmax_out(Tensor& out, const Tensor& self, int64_t dim, bool half_to_float) {
  CALL_OP("_log_softmax.out", Tensor & (const Tensor&, int64_t, bool, Tensor&), self, dim, half_to_float, out);
}
Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  CALL_OP("_log_softmax", Tensor(const Tensor&, int64_t, bool), self, dim, half_to_float);
}
std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target,
                                            const std::optional<Tensor>& weight, int64_t reduction,
                                            int64_t ignore_index) {
  using Sig = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const std::optional<Tensor>&, int64_t, int64_t);
  CALL_OP("nll_loss_forward", Sig, self, target, weight, reduction, ignore_index);
}
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                int64_t ignore_index) {
  CALL_OP("nll_loss", Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&, int64_t, int64_t), self,
          target, weight, reduction, ignore_index);
}
Tensor log_softmax(const Tensor& self, int64_t dim, OptionalType dtype) {
  CALL_OP("log_softmax.int", Tensor(const Tensor&, int64_t, OptionalType), self, dim, dtype);
}

} // namespace reftorch::at
