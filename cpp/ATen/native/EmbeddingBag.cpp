// Mirrors: aten/src/ATen/native/EmbeddingBag.cpp
//
// Looks up rows of a table and joins the rows of each bag by their sum, mean or maximum. A bag is a range of the row
// numbers: bag b begins at offsets[b] and ends where the next bag begins. Left out: sparse gradients, and the choice
// among kernels, for which PyTorch leaves some of the results empty that only backward needs.
#include <ATen/native/EmbeddingBag.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <c10/core/GradMode.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(embedding_bag_stub)
DEFINE_DISPATCH(embedding_bag_dense_backward_stub)
DEFINE_DISPATCH(embedding_bag_per_sample_weights_backward_stub)

namespace {

using OptionalTensor = std::optional<Tensor>;
using BagResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// --- checks ----------------------------------------------------------------------------------------------------------

bool is_row_dtype(ScalarType dtype) {
  return dtype == kLong || dtype == kInt;
}

EmbeddingBagMode checked_mode(int64_t mode) {
  TORCH_CHECK(mode >= 0 && mode <= 2, "embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), but got ", mode);
  return static_cast<EmbeddingBagMode>(mode);
}

void check_not_sparse(bool sparse) {
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_bag(): sparse=True is not supported: gradients are dense sums.");
}

void check_row_dtype(const Tensor& t, int number, const char* name) {
  TORCH_CHECK(is_row_dtype(t.scalar_type()), "Expected tensor for argument #", number, " '", name,
              "' to have one of the following scalar types: Long, Int; but got ", c10::dtypeName(t.scalar_type()),
              " instead (while checking arguments for embedding_bag)");
}

// Checks what the sizes and dtypes tell; the kernel checks the row numbers and offsets.
void check_arguments(const Tensor& weight, const Tensor& indices, const Tensor& offsets, EmbeddingBagMode mode,
                     const Tensor& per_sample_weights, bool include_last_offset) {
  check_row_dtype(indices, 1, "indices");
  check_row_dtype(offsets, 1, "offsets");
  TORCH_CHECK(weight.is_floating_point(), "Expected tensor for argument #1 'weight' to have one of the following ",
              "scalar types: Half, BFloat16, Float, Double; but got ", c10::dtypeName(weight.scalar_type()),
              " instead (while checking arguments for embedding_bag)");
  TORCH_CHECK(weight.dim() == 2, "embedding_bag: expected weight to have 2 dimensions, but got ", weight.dim());
  TORCH_CHECK(indices.dim() == 1 && offsets.dim() == 1,
              "embedding_bag: expected indices and offsets to have 1 dimension, but got ", indices.dim(), " and ",
              offsets.dim());
  if (per_sample_weights.defined()) {
    TORCH_CHECK(mode == EmbeddingBagMode::Sum,
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                "(got mode='",
                mode == EmbeddingBagMode::Mean ? "mean" : "max", "'). Please open a feature request on GitHub.");
    TORCH_CHECK(per_sample_weights.scalar_type() == weight.scalar_type(),
                "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                "'per_sample_weights'; but type ",
                toString(weight.scalar_type()), " does not equal ", toString(per_sample_weights.scalar_type()),
                " (while checking arguments for embedding_bag)");
    TORCH_CHECK(per_sample_weights.sizes() == indices.sizes(), "embedding_bag: expected per_sample_weights of shape ",
                indices.sizes(), ", as indices have, but got ", per_sample_weights.sizes());
  }
  TORCH_CHECK(!include_last_offset || offsets.numel() >= 1,
              "include_last_offset: number of offset should be at least 1");
}

Tensor as_row_numbers(const Tensor& t) {
  return (t.scalar_type() == kLong ? t : cast_to_dtype(t, kLong)).contiguous();
}

Tensor dense_weights(const OptionalTensor& t) {
  return t.has_value() && t->defined() ? t->contiguous() : Tensor();
}

// --- the ops that autograd records -----------------------------------------------------------------------------------

// Returns the rows of the bags, the bag of each row number, the number of rows in each bag without padding, and for the
// maximum the row number that each element came from.
BagResult _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                         int64_t mode_number, bool sparse, const OptionalTensor& per_sample_weights,
                         bool include_last_offset, int64_t padding_idx) {
  const EmbeddingBagMode mode = checked_mode(mode_number);
  const Tensor weights = dense_weights(per_sample_weights);
  check_not_sparse(sparse);
  check_arguments(weight, indices, offsets, mode, weights, include_last_offset);
  const int64_t bags = offsets.numel() - (include_last_offset ? 1 : 0), features = weight.sizes()[1];
  const Device device = weight.device();
  const Tensor output = detail::empty_generic({bags, features}, weight.scalar_type(), device);
  const Tensor offset2bag = detail::empty_generic(indices.sizes(), kLong, device);
  const Tensor bag_size = detail::empty_generic({bags}, kLong, device);
  const Tensor max_indices = detail::empty_generic({mode == EmbeddingBagMode::Max ? bags : 0, features}, kLong, device);
  embedding_bag_stub(device.type(), output, offset2bag, bag_size, max_indices, weight.contiguous(),
                     as_row_numbers(indices), as_row_numbers(offsets), weights,
                     EmbeddingBagOptions{mode, padding_idx, scale_grad_by_freq});
  return {output, offset2bag, bag_size, max_indices};
}

Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                                     const Tensor& bag_size, const Tensor& max_indices, int64_t num_weights,
                                     bool scale_grad_by_freq, int64_t mode_number,
                                     const OptionalTensor& per_sample_weights, int64_t padding_idx) {
  const EmbeddingBagMode mode = checked_mode(mode_number);
  TORCH_CHECK(grad.dim() == 2 && offset2bag.sizes() == indices.sizes() && bag_size.numel() == grad.sizes()[0],
              "_embedding_bag_dense_backward: expected grad of shape (B, D), offset2bag of the shape of indices, and B "
              "bag sizes, but got shapes ",
              grad.sizes(), ", ", offset2bag.sizes(), " and ", bag_size.sizes());
  TORCH_CHECK(mode != EmbeddingBagMode::Max || max_indices.sizes() == grad.sizes(),
              "_embedding_bag_dense_backward: expected maximum_indices of shape ", grad.sizes(), ", but got ",
              max_indices.sizes());
  const Tensor weights = dense_weights(per_sample_weights);
  TORCH_CHECK(!weights.defined() || (weights.sizes() == indices.sizes() && weights.scalar_type() == grad.scalar_type()),
              "_embedding_bag_dense_backward: expected per_sample_weights of the shape of indices and the dtype of "
              "grad, but got ",
              weights.sizes(), " and ", weights.scalar_type(), " for ", indices.sizes(), " and ", grad.scalar_type());
  const Tensor grad_weight = detail::empty_generic({num_weights, grad.sizes()[1]}, grad.scalar_type(), grad.device());
  zero_impl(grad_weight);
  embedding_bag_dense_backward_stub(grad.device().type(), grad_weight, grad.contiguous(), as_row_numbers(indices),
                                    as_row_numbers(offset2bag), as_row_numbers(bag_size), as_row_numbers(max_indices),
                                    weights, EmbeddingBagOptions{mode, padding_idx, scale_grad_by_freq});
  return grad_weight;
}

Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                                  const Tensor& offsets, const Tensor& offset2bag, int64_t mode_number,
                                                  int64_t padding_idx) {
  TORCH_CHECK(checked_mode(mode_number) == EmbeddingBagMode::Sum,
              "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  TORCH_CHECK(grad.dim() == 2 && weight.dim() == 2 && grad.sizes()[1] == weight.sizes()[1] &&
                  offset2bag.sizes() == indices.sizes(),
              "_embedding_bag_per_sample_weights_backward: expected grad (B, D), weight (V, D) and offset2bag of the "
              "shape of indices, but got shapes ",
              grad.sizes(), ", ", weight.sizes(), " and ", offset2bag.sizes());
  TORCH_CHECK(grad.scalar_type() == weight.scalar_type(),
              "_embedding_bag_per_sample_weights_backward: expected grad and "
              "weight of one dtype, but got ",
              grad.scalar_type(), " and ", weight.scalar_type());
  const Tensor result = detail::empty_generic(indices.sizes(), grad.scalar_type(), grad.device());
  embedding_bag_per_sample_weights_backward_stub(grad.device().type(), result, grad.contiguous(), weight.contiguous(),
                                                 as_row_numbers(indices), as_row_numbers(offset2bag), padding_idx);
  return result;
}

// --- the ops that people call ----------------------------------------------------------------------------------------

Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                               const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse,
                               const OptionalTensor& per_sample_weights, int64_t padding_idx) {
  check_not_sparse(sparse);
  return at::_embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
                                           scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

BagResult embedding_bag_padding_idx(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                    bool scale_grad_by_freq, int64_t mode, bool sparse,
                                    const OptionalTensor& per_sample_weights, bool include_last_offset,
                                    std::optional<int64_t> padding_idx) {
  const int64_t rows = weight.dim() > 0 ? weight.sizes()[0] : 0;
  int64_t padding = -1;
  if (padding_idx.has_value()) {
    TORCH_CHECK(*padding_idx >= -rows && *padding_idx < rows, "padding_idx must be within the number of embeddings, -",
                rows, " through ", rows - 1, ", but got ", *padding_idx);
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  return weight.requires_grad() || c10::ForwardAD::is_active()
             ? at::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                  include_last_offset, padding)
             : at::_embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                                               per_sample_weights, include_last_offset, padding);
}

BagResult embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                        int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset) {
  return embedding_bag_padding_idx(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                   include_last_offset, std::nullopt);
}

// --- rows without bags (aten/src/ATen/native/Embedding.cpp) ----------------------------------------------------------

void check_rows(const Tensor& indices, const char* op) {
  TORCH_CHECK(
      is_row_dtype(indices.scalar_type()),
      "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
      c10::dtypeName(indices.scalar_type()), " instead (while checking arguments for ", op, ")");
}

// weight: (V, D); indices: any shape (*). Returns the rows, (*, D). The other arguments are for the gradient.
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding(): sparse=True is not supported: gradients are dense sums.");
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  check_rows(indices, "embedding");
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  return at::reshape(at::index_select(weight, 0, at::reshape(indices, {-1})), sizes);
}

// grad: (*, D), or of any shape with as many rows of D elements; indices: (*). Adds each gradient to its row of the
// result, (V, D): the gradient of bags of one row. The row padding_idx stays 0. With scale_grad_by_freq, a gradient is
// divided by the number of times its row is looked up.
Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq) {
  check_rows(indices, "embedding_backward");
  const int64_t N = indices.numel(), D = grad.size(-1);
  const Tensor rows = at::reshape(indices, {-1});
  const Tensor ones = at::ones_like(rows), bags = at::cumsum(ones, 0, kLong);
  return at::_embedding_bag_dense_backward(at::reshape(grad, {N, D}), rows,
                                           at::sub(bags, detail::wrapped_scalar_tensor(1)), ones, ones, num_weights,
                                           scale_grad_by_freq, 0, std::nullopt, padding_idx);
}

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                          bool scale_grad_by_freq, bool sparse) {
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding(): sparse=True is not supported: gradients are dense sums.");
  return at::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

// The distinct elements of a vector, which is not empty, in ascending order.
Tensor distinct(const Tensor& self) {
  const Tensor sorted = std::get<0>(at::sort(self));
  const int64_t n = sorted.numel();
  const Tensor differs = at::ne(at::narrow(sorted, 0, 1, n - 1), at::narrow(sorted, 0, 0, n - 1));
  return at::masked_select(sorted, at::constant_pad_nd(differs, {1, 0}, Scalar(true)));
}

// Scales the rows that are looked up, in place, so that their norms are at most max_norm. A row whose norm is NaN
// stays. A row that is looked up twice is computed once: on CUDA, two writes of one row would be a race.
Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  TORCH_CHECK(self.dim() == 2, "Expected 2-dimensional tensor, but got ", self.dim(),
              "-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)");
  check_rows(indices, "embedding_renorm_");
  if (indices.numel() == 0) {
    return self;
  }
  const Tensor rows = at::to(at::reshape(indices, {-1}), kLong);
  const std::vector<Tensor> places = {
      rows.device().is_meta() ? rows : distinct(rows)}; // a meta tensor has no elements to compare
  const Tensor values = at::index(self, places);
  const Tensor norms = at::norm(values, Scalar(norm_type), {1}, /*keepdim=*/true);
  const Tensor largest = detail::wrapped_scalar_tensor(max_norm);
  const Tensor scale = at::mul(at::reciprocal(at::add(norms, detail::wrapped_scalar_tensor(1e-7))), largest);
  at::index_put_(self, places, at::where(at::lt(largest, norms), at::mul(values, scale), values));
  return self;
}

Tensor embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  Tensor result = at::clone(self);
  return embedding_renorm_(result, indices, max_norm, norm_type);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def(
      "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
      "sparse=False) -> Tensor",
      TORCH_FN(embedding), FUNCTION);
  m.def_out_by_copy(
      "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
      "sparse=False) -> Tensor",
      TORCH_FN(embedding));
  m.def(
      "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
      "scale_grad_by_freq) -> Tensor",
      TORCH_FN(embedding_dense_backward), variants::NN);
  m.def_composite(
      "embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
      "scale_grad_by_freq, bool sparse) -> Tensor",
      TORCH_FN(embedding_backward), variants::NN);
  m.def("embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
        TORCH_FN(embedding_renorm_), FUNCTION);
  m.def("embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
        TORCH_FN(embedding_renorm), variants::NONE, out_form());
  m.def(
      "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
      "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, "
      "Tensor, Tensor, Tensor)",
      TORCH_FN(_embedding_bag), kernels(embedding_bag_stub), FUNCTION);
  m.def(
      "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
      "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
      "-> (Tensor, Tensor, Tensor, Tensor)",
      TORCH_FN(_embedding_bag), kernels(embedding_bag_stub), FUNCTION);
  m.def(
      "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
      "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int "
      "padding_idx=-1) -> Tensor",
      TORCH_FN(_embedding_bag_dense_backward), kernels(embedding_bag_dense_backward_stub, zero_stub), variants::NN);
  m.def(
      "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor "
      "offset2bag, int mode, int padding_idx=-1) -> Tensor",
      TORCH_FN(_embedding_bag_per_sample_weights_backward), kernels(embedding_bag_per_sample_weights_backward_stub),
      variants::NN);
  m.def_composite(
      "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, Tensor "
      "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
      "per_sample_weights, int padding_idx=-1) -> Tensor",
      TORCH_FN(_embedding_bag_backward), variants::NN);
  m.def_composite(
      "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
      "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, "
      "Tensor)",
      TORCH_FN(embedding_bag), FUNCTION);
  m.def_composite(
      "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, "
      "bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, "
      "Tensor, Tensor)",
      TORCH_FN(embedding_bag_padding_idx), FUNCTION);
}

} // namespace reftorch::at::native
