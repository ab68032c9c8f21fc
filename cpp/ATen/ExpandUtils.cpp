// Mirrors: aten/src/ATen/ExpandUtils.cpp, aten/src/ATen/InferSize.h
#include <ATen/ExpandUtils.h>

#include <ATen/Functions.h>

namespace reftorch::at {

DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b) {
  const size_t ndim = std::max(a.size(), b.size());
  DimVector expanded(ndim);
  for (size_t i = 0; i < ndim; i++) { // i counts from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
                ") must match the size of tensor b (", size_b, ") at non-singleton dimension ", ndim - 1 - i);
    expanded[ndim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return expanded;
}

bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) {
    return false;
  }
  for (size_t i = 0; i < shape.size(); i++) {
    const int64_t size = shape[shape.size() - 1 - i];
    if (size != desired[desired.size() - 1 - i] && size != 1) {
      return false;
    }
  }
  return true;
}

DimVector infer_size(IntArrayRef shape, int64_t numel) {
  DimVector result(shape);
  int64_t known = 1;
  bool overflow = false;
  int inferred = -1;
  for (size_t i = 0; i < shape.size(); i++) {
    if (shape[i] == -1) {
      TORCH_CHECK(inferred == -1, "only one dimension can be inferred");
      inferred = static_cast<int>(i);
    } else {
      TORCH_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i, " of shape ", shape);
      overflow = __builtin_mul_overflow(known, shape[i], &known) || overflow;
    }
  }
  const bool fits = !overflow && (inferred == -1 ? numel == known : (known > 0 && numel % known == 0));
  TORCH_CHECK(inferred == -1 || known != 0 || numel != 0, "cannot reshape tensor of 0 elements into shape ", shape,
              " because the unspecified dimension size -1 can be any value and is ambiguous");
  TORCH_CHECK(fits, "shape '", shape, "' is invalid for input of size ", numel);
  if (inferred != -1) {
    result[inferred] = numel / known;
  }
  return result;
}

Tensor sum_to(const Tensor& tensor, IntArrayRef shape) {
  if (tensor.sizes() == shape) {
    return tensor;
  }
  if (shape.empty()) {
    return at::sum(tensor);
  }
  const int64_t leading = tensor.dim() - static_cast<int64_t>(shape.size());
  DimVector reduce_dims;
  for (int64_t i = 0; i < tensor.dim(); i++) {
    if (i < leading || (shape[i - leading] == 1 && tensor.sizes()[i] != 1)) {
      reduce_dims.push_back(i);
    }
  }
  const Tensor summed = reduce_dims.empty() ? tensor : at::sum(tensor, reduce_dims, /*keepdim=*/true);
  return leading > 0 ? at::view(summed, shape) : summed;
}

} // namespace reftorch::at
