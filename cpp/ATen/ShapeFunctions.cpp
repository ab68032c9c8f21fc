// Mirrors: aten/src/ATen/templates/Functions.cpp
#include <ATen/ShapeFunctions.h>

#include <ATen/core/dispatch/CallOp.h>

namespace reftorch::at {

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  CALL_OP("flatten.using_ints", Tensor(const Tensor&, int64_t, int64_t), self, start_dim, end_dim);
}
Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  CALL_OP("movedim.intlist", Tensor(const Tensor&, IntArrayRef, IntArrayRef), self, source, destination);
}
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  CALL_OP("unsafe_split.Tensor", std::vector<Tensor>(const Tensor&, int64_t, int64_t), self, split_size, dim);
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  CALL_OP("unsafe_split_with_sizes", std::vector<Tensor>(const Tensor&, IntArrayRef, int64_t), self, split_sizes, dim);
}
Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim) {
  CALL_OP("cat.out", Tensor & (TensorList, int64_t, Tensor&), tensors, dim, out);
}
Tensor stack(TensorList tensors, int64_t dim) {
  CALL_OP("stack", Tensor(TensorList, int64_t), tensors, dim);
}
std::vector<Tensor> meshgrid(TensorList tensors, std::string indexing) {
  CALL_OP("meshgrid.indexing", std::vector<Tensor>(TensorList, std::string), tensors, indexing);
}
Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  CALL_OP("repeat", Tensor(const Tensor&, IntArrayRef), self, repeats);
}
Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  CALL_OP("repeat_interleave.Tensor", Tensor(const Tensor&, std::optional<int64_t>), repeats, output_size);
}
Tensor flip(const Tensor& self, IntArrayRef dims) {
  CALL_OP("flip", Tensor(const Tensor&, IntArrayRef), self, dims);
}
Tensor diag(const Tensor& self, int64_t diagonal) {
  CALL_OP("diag", Tensor(const Tensor&, int64_t), self, diagonal);
}
Tensor tril(const Tensor& self, int64_t diagonal) {
  CALL_OP("tril", Tensor(const Tensor&, int64_t), self, diagonal);
}
Tensor triu(const Tensor& self, int64_t diagonal) {
  CALL_OP("triu", Tensor(const Tensor&, int64_t), self, diagonal);
}
Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  using std::nullopt;
  CALL_OP("new_empty_strided",
          Tensor(const Tensor&, IntArrayRef, IntArrayRef, std::optional<ScalarType>, std::optional<c10::Layout>,
                 std::optional<Device>, std::optional<bool>),
          self, size, stride, nullopt, nullopt, nullopt, nullopt);
}

} // namespace reftorch::at
