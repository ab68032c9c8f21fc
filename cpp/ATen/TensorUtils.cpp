// Mirrors: aten/src/ATen/TensorUtils.cpp, aten/src/ATen/ExpandUtils.cpp
#include <ATen/TensorUtils.h>

#include <c10/util/accumulate.h>

#include <algorithm>

namespace reftorch::at::detail {

// Old dimensions that follow each other without a gap form one run of memory. The new dimensions, taken from the last
// to the first, must fill one run after the other exactly.
std::optional<DimVector> computeStride(IntArrayRef oldshape, IntArrayRef oldstride, IntArrayRef newshape) {
  if (c10::multiply_integers(oldshape) == 0) {
    return oldshape == newshape ? DimVector(oldstride) : contiguous_strides(newshape);
  }
  DimVector newstride(newshape.size(), 1);
  int64_t view_d = static_cast<int64_t>(newshape.size()) - 1;
  int64_t run_stride = oldshape.empty() ? 1 : oldstride.back();
  int64_t run_numel = 1, view_numel = 1;
  for (int64_t old_d = static_cast<int64_t>(oldshape.size()) - 1; old_d >= 0; old_d--) {
    run_numel *= oldshape[old_d];
    const bool run_ends = old_d == 0 || (oldshape[old_d - 1] != 1 && oldstride[old_d - 1] != run_numel * run_stride);
    if (!run_ends) {
      continue;
    }
    while (view_d >= 0 && (view_numel < run_numel || newshape[view_d] == 1)) {
      newstride[view_d] = view_numel * run_stride;
      view_numel *= newshape[view_d--];
    }
    if (view_numel != run_numel) {
      return std::nullopt;
    }
    if (old_d > 0) {
      run_stride = oldstride[old_d - 1];
      run_numel = view_numel = 1;
    }
  }
  if (oldshape.empty()) {
    return DimVector(newshape.size(), 1);
  }
  return view_d == -1 ? std::optional<DimVector>(newstride) : std::nullopt;
}

DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  DimVector perm(sizes.size()); // the fastest dimension first
  for (int64_t i = 0; i < ndim; i++) {
    perm[i] = ndim - 1 - i;
  }
  // Returns 1 if dim0 must come after dim1, -1 if before, and 0 if there is no preference (a stride of 0 belongs to an
  // expanded dimension).
  auto should_swap = [&](int64_t dim0, int64_t dim1) {
    if (strides[dim0] == 0 || strides[dim1] == 0) {
      return 0;
    }
    if (strides[dim0] != strides[dim1]) {
      return strides[dim0] < strides[dim1] ? -1 : 1;
    }
    return sizes[dim0] > sizes[dim1] ? 1 : 0;
  };
  for (int64_t i = 1; i < ndim;
       i++) { // insertion sort, as in TensorIterator: a pair without a preference must not end the search
    int64_t dim1 = i;
    for (int64_t dim0 = i - 1; dim0 >= 0; dim0--) {
      const int comparison = should_swap(perm[dim0], perm[dim1]);
      if (comparison > 0) {
        std::swap(perm[dim0], perm[dim1]);
        dim1 = dim0;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  DimVector dense(sizes.size());
  int64_t step = 1;
  for (int64_t dim : perm) {
    dense[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return dense;
}

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) {
    TORCH_CHECK(!__builtin_mul_overflow(strides[i], std::max<int64_t>(sizes[i], 1), &strides[i - 1]),
                "Stride calculation overflowed with sizes=", sizes);
  }
  return strides;
}

DimVector channels_last_strides(IntArrayRef sizes) {
  TORCH_CHECK(sizes.size() == 4, "required rank 4 tensor to use channels_last format");
  DimVector strides(sizes.size());
  int64_t step = 1;
  for (int64_t d : {1, 3, 2, 0}) {
    strides[d] = step;
    step *= sizes[d];
  }
  return strides;
}

MemoryFormat suggest_memory_format(const Tensor& t) {
  if (t.dim() != 4 || t.strides()[1] == 0) {
    return MemoryFormat::Contiguous;
  }
  const IntArrayRef sizes = t.sizes(), strides = t.strides();
  int64_t least = 0; // the smallest stride that the next dimension may have
  for (int64_t d : {1, 3, 2, 0}) {
    const bool ambiguous = d == 0 && least == strides[1]; // for (N, 1, 1, 1) the strides fit both formats
    if (sizes[d] == 0 || strides[d] < least || ambiguous) {
      return MemoryFormat::Contiguous;
    }
    least = strides[d] * std::max<int64_t>(sizes[d], 1);
  }
  return MemoryFormat::ChannelsLast;
}

std::string type_string(const Tensor& t) {
  const std::string dtype = c10::toString(t.scalar_type());
  const bool is_cuda = t.device().is_cuda();
  if (t.scalar_type() == kBool || t.scalar_type() == kBFloat16) { // PyTorch does not rename these two
    return (is_cuda ? "CUDA" : "CPU") + dtype + "Type";
  }
  return (is_cuda ? "torch.cuda." : "torch.") + dtype + "Tensor";
}

} // namespace reftorch::at::detail
