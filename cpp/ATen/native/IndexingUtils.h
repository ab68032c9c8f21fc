// Mirrors: aten/src/ATen/native/IndexingUtils.h, aten/src/ATen/native/TensorAdvancedIndexing.h (struct AdvancedIndex)
//
// Translates the indices of x[i, :, mask] into places in the memory of x.
#pragma once

#include <ATen/native/IndexKernel.h>

#include <string>
#include <vector>

namespace reftorch::at::native {

// Turns a list of indices into one tensor, which `rule` reads as places in memory. An undefined index takes the whole
// dimension.
//
// Result shape, as in numpy: the index tensors are broadcast together. Their shape replaces the indexed dimensions if
// those are adjacent; otherwise their shape comes first.
struct AdvancedIndex {
  // Raises IndexError for too many indices, for a mask of another shape, or for indices that do not broadcast.
  AdvancedIndex(const Tensor& self, TensorList indices);

  DimVector shape; // of the result
  Tensor view;     // self with `shape`, and stride 0 in the indexed dimensions
  IndexRule rule;
  // Returns an int64 tensor that broadcasts to `shape`: the index itself if there is one index, else distances in
  // bytes. Raises IndexError for an index out of range, unless the result has no elements.
  Tensor offsets() const;
  // Allocates the result. If self and the indices have their dimensions in another order in memory, the result has the
  // same order.
  Tensor empty_result() const;

 private:
  struct Index {
    Tensor index; // broadcasts to `shape`
    int64_t size; // of the dimension
    int64_t stride_bytes;
  };
  std::vector<Index> indices_;
};

// Returns `t`, or a copy of `t` on the device of self.
Tensor on_device_of(const Tensor& self, const Tensor& t);

// If `out` is undefined, it becomes a copy of self; if `out` is another tensor than self, self is copied into it.
void start_from(const Tensor& self, Tensor& out, MemoryFormat format = MemoryFormat::Contiguous);

// Returns the given `out`, resized to `shape` (RuntimeError where its dtype differs), or a fresh tensor.
Tensor& prepare_out(Tensor& out, IntArrayRef shape, const Tensor& self, const char* name);

// Raises RuntimeError unless the index is int64 or int32.
void check_index_dtype(const char* name, const Tensor& index);

// Returns self as the second operand of a gather: a view with the shape of the index and with stride 0 along `dim`.
Tensor restride_dim(const Tensor& self, int64_t dim, IntArrayRef shape);
IndexRule rule_for(const Tensor& self, int64_t dim, IndexRule::Use use);

// Parses "sum", "mean" (a sum that the caller divides), "prod", "amax" or "amin".
ReductionType reduction_type(const std::string& reduce);
// The value that the reduction leaves unchanged: 0 for a sum, 1 for a product.
Scalar reduction_identity(ReductionType type, ScalarType dtype);
// sum /= count, where count is not 0; integer quotients are rounded down.
void divide_by_count(Tensor& sum, Tensor& count);

} // namespace reftorch::at::native
