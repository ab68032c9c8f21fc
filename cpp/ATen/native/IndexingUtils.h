// Mirrors: aten/src/ATen/native/IndexingUtils.h, aten/src/ATen/native/TensorAdvancedIndexing.h (struct AdvancedIndex)
// x[i, :, mask]: what the indices of x mean for its memory.
#pragma once

#include <ATen/native/IndexKernel.h>

#include <string>
#include <vector>

namespace reftorch::at::native {

// Turns a list of indices (undefined: the whole dimension) into one tensor, which `rule` reads as places in memory.
//
// Result shape, as in numpy: the index tensors are broadcast together; their shape takes the place of the indexed
// dimensions if those stand side by side, and goes to the front otherwise.
struct AdvancedIndex {
  // IndexError for too many indices, a mask of another shape, or indices that do not broadcast.
  AdvancedIndex(const Tensor& self, TensorList indices);

  DimVector shape; // of the result
  Tensor view;     // self with `shape`, stride 0 in the dimensions that are indexed
  IndexRule rule;
  // int64, broadcasts to `shape`: the index itself where there is one, else distances in bytes. IndexError for an index
  // out of range, unless the result has no elements.
  Tensor offsets() const;
  // Memory for the result, laid out as self and the indices are: where those lie in another order, so does the result.
  Tensor empty_result() const;

 private:
  struct Index {
    Tensor index; // broadcasts to `shape`
    int64_t size; // of the dimension
    int64_t stride_bytes;
  };
  std::vector<Index> indices_;
};

// An undefined `out` becomes a copy of self; another tensor than self is overwritten with it.
void start_from(const Tensor& self, Tensor& out, MemoryFormat format = MemoryFormat::Contiguous);

// The given `out`, made to fit (RuntimeError where it has another dtype), or a fresh one.
Tensor& prepare_out(Tensor& out, IntArrayRef shape, const Tensor& self, const char* name);

// RuntimeError unless int64 or int32.
void check_index_dtype(const char* name, const Tensor& index);

// self as the other operand of a gather sees it: the index's shape, standing still along `dim`.
Tensor restride_dim(const Tensor& self, int64_t dim, IntArrayRef shape);
IndexRule rule_for(const Tensor& self, int64_t dim, IndexRule::Use use);

// "sum", "mean" (a sum, to be divided), "prod", "amax", "amin".
ReductionType reduction_type(const std::string& reduce);
// What changes nothing.
Scalar reduction_identity(ReductionType type, ScalarType dtype);
// sum /= count, where count is not 0; integers round down.
void divide_by_count(Tensor& sum, Tensor& count);

} // namespace reftorch::at::native
