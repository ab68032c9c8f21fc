// Mirrors: aten/src/ATen/templates/Functions.h
// The C++ callers' door to the ops: each function calls through the Dispatcher, so autograd records it. Left out: in
// PyTorch this file is generated for every op; here it holds the ones that C++ code calls.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <tuple>

namespace reftorch::at {

TORCH_API Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt,
                       std::optional<Device> device = std::nullopt);
TORCH_API Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt,
                       std::optional<Device> device = std::nullopt);
TORCH_API Tensor zeros_like(const Tensor& self);
TORCH_API Tensor ones_like(const Tensor& self);

TORCH_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
TORCH_API Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha = 1);
TORCH_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
TORCH_API Tensor mul(const Tensor& self, const Tensor& other);
TORCH_API Tensor& mul_(Tensor& self, const Tensor& other);
TORCH_API Tensor div(const Tensor& self, const Tensor& other);
TORCH_API Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other);
TORCH_API Tensor& div_(Tensor& self, const Tensor& other);
TORCH_API Tensor floor_divide(const Tensor& self, const Tensor& other);
TORCH_API Tensor remainder(const Tensor& self, const Tensor& other);
TORCH_API Tensor pow(const Tensor& self, const Tensor& exponent);
TORCH_API Tensor pow(const Tensor& self, const Scalar& exponent);
TORCH_API Tensor pow(const Scalar& self, const Tensor& exponent);
TORCH_API Tensor& pow_out(Tensor& out, const Tensor& self, const Scalar& exponent);
TORCH_API Tensor& pow_(Tensor& self, const Scalar& exponent);
TORCH_API Tensor& pow_out(Tensor& out, const Tensor& self, const Tensor& exponent);
TORCH_API Tensor& pow_(Tensor& self, const Tensor& exponent);
TORCH_API Tensor maximum(const Tensor& self, const Tensor& other);
TORCH_API Tensor minimum(const Tensor& self, const Tensor& other);
TORCH_API Tensor& maximum_out(Tensor& out, const Tensor& self, const Tensor& other);
TORCH_API Tensor& minimum_out(Tensor& out, const Tensor& self, const Tensor& other);
TORCH_API Tensor neg(const Tensor& self);
TORCH_API Tensor abs(const Tensor& self);
TORCH_API Tensor exp(const Tensor& self);
TORCH_API Tensor log(const Tensor& self);
TORCH_API Tensor floor(const Tensor& self);
TORCH_API Tensor ceil(const Tensor& self);
TORCH_API Tensor round(const Tensor& self);
TORCH_API Tensor sqrt(const Tensor& self);
TORCH_API Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
TORCH_API Tensor logical_not(const Tensor& self);
TORCH_API Tensor eq(const Tensor& self, const Tensor& other);
TORCH_API Tensor ne(const Tensor& self, const Tensor& other);
TORCH_API Tensor lt(const Tensor& self, const Tensor& other);
TORCH_API Tensor le(const Tensor& self, const Tensor& other);
TORCH_API Tensor logical_and(const Tensor& self, const Tensor& other);
TORCH_API Tensor logical_or(const Tensor& self, const Tensor& other);
TORCH_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
TORCH_API Tensor all(const Tensor& self);
TORCH_API Tensor var(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
                     bool keepdim = false);
TORCH_API Tensor std(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
                     bool keepdim = false);
TORCH_API Tensor& var_out(Tensor& out, const Tensor& self, std::optional<IntArrayRef> dim,
                          const std::optional<Scalar>& correction, bool keepdim = false);
TORCH_API Tensor& std_out(Tensor& out, const Tensor& self, std::optional<IntArrayRef> dim,
                          const std::optional<Scalar>& correction, bool keepdim = false);
TORCH_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                              const std::optional<Scalar>& correction, bool keepdim = false);
TORCH_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                              const std::optional<Scalar>& correction, bool keepdim = false);
TORCH_API Tensor nansum(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim = false,
                        std::optional<ScalarType> dtype = std::nullopt);
TORCH_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false);
TORCH_API Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode);
TORCH_API Tensor cumsum(const Tensor& self, int64_t dim);
TORCH_API Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim = false);
TORCH_API Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim = false);
TORCH_API Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false);

TORCH_API Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking = false);
TORCH_API Tensor& fill_(Tensor& self, const Scalar& value);
TORCH_API Tensor& zero_(Tensor& self);
TORCH_API Tensor& uniform_(Tensor& self, double from = 0, double to = 1,
                           const std::optional<Generator>& generator = std::nullopt);
TORCH_API Tensor& normal_(Tensor& self, double mean = 0, double std = 1,
                          const std::optional<Generator>& generator = std::nullopt);
TORCH_API Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to,
                          const std::optional<Generator>& generator = std::nullopt);
TORCH_API Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format = std::nullopt);
TORCH_API Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous);
TORCH_API Tensor to(const Tensor& self, ScalarType dtype, bool non_blocking = false, bool copy = false);
TORCH_API Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype,
                          std::optional<Device> device = std::nullopt, bool non_blocking = false,
                          std::optional<MemoryFormat> memory_format = std::nullopt);

TORCH_API Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset = std::nullopt);
TORCH_API Tensor view(const Tensor& self, IntArrayRef size);
TORCH_API Tensor _unsafe_view(const Tensor& self, IntArrayRef size);
TORCH_API Tensor reshape(const Tensor& self, IntArrayRef shape);
TORCH_API Tensor expand(const Tensor& self, IntArrayRef size);
TORCH_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
TORCH_API Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                       int64_t step = 1);
TORCH_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
TORCH_API Tensor unsqueeze(const Tensor& self, int64_t dim);
TORCH_API Tensor squeeze(const Tensor& self, int64_t dim);
TORCH_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
TORCH_API Tensor t(const Tensor& self);
TORCH_API Tensor permute(const Tensor& self, IntArrayRef dims);
TORCH_API Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
TORCH_API Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
TORCH_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
TORCH_API std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0);
TORCH_API Tensor cat(TensorList tensors, int64_t dim = 0);
TORCH_API Tensor detach(const Tensor& self);
TORCH_API Tensor alias(const Tensor& self);

// Sums a gradient down to the shape it was broadcast from.
TORCH_API Tensor sum_to(const Tensor& tensor, IntArrayRef shape);

// Indices may hold undefined tensors, which stand for `:`.
TORCH_API Tensor index(const Tensor& self, TensorList indices);
TORCH_API Tensor& index_put_(Tensor& self, TensorList indices, const Tensor& values, bool accumulate = false);

TORCH_API Tensor nonzero(const Tensor& self);
TORCH_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
TORCH_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false);
TORCH_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
TORCH_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool right = false);
TORCH_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false);

TORCH_API Tensor mm(const Tensor& self, const Tensor& mat2);
TORCH_API Tensor mv(const Tensor& self, const Tensor& vec);
TORCH_API Tensor dot(const Tensor& self, const Tensor& tensor);
TORCH_API Tensor bmm(const Tensor& self, const Tensor& mat2);
TORCH_API Tensor matmul(const Tensor& self, const Tensor& other);
TORCH_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                       const Scalar& alpha = 1);

TORCH_API Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
TORCH_API Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float);
TORCH_API Tensor& _softmax_out(Tensor& out, const Tensor& self, int64_t dim, bool half_to_float);
TORCH_API Tensor& _log_softmax_out(Tensor& out, const Tensor& self, int64_t dim, bool half_to_float);
TORCH_API Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float);
TORCH_API std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target,
                                                      const std::optional<Tensor>& weight, int64_t reduction,
                                                      int64_t ignore_index);
TORCH_API Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                          int64_t reduction, int64_t ignore_index);
TORCH_API Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

} // namespace reftorch::at
