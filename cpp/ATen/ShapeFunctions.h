// Mirrors: aten/src/ATen/templates/Functions.h
// The C++ callers' door to ops that rearrange, join and take tensors apart: the rest of ATen/Functions.h.
#pragma once

#include <ATen/Functions.h>

#include <string>

namespace reftorch::at {

TORCH_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
TORCH_API Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
TORCH_API std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim = 0);
TORCH_API std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0);
TORCH_API Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim = 0);
TORCH_API Tensor stack(TensorList tensors, int64_t dim = 0);
TORCH_API std::vector<Tensor> meshgrid(TensorList tensors, std::string indexing);
TORCH_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
TORCH_API Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = std::nullopt);
TORCH_API Tensor flip(const Tensor& self, IntArrayRef dims);
TORCH_API Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride);
TORCH_API Tensor diag(const Tensor& self, int64_t diagonal = 0);
TORCH_API Tensor tril(const Tensor& self, int64_t diagonal = 0);
TORCH_API Tensor triu(const Tensor& self, int64_t diagonal = 0);

} // namespace reftorch::at
