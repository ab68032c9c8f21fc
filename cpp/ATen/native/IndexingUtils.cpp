// Mirrors: aten/src/ATen/native/IndexingUtils.cpp, aten/src/ATen/native/TensorAdvancedIndexing.cpp (make_info)
#include <ATen/native/IndexingUtils.h>

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

#include <limits>
#include <sstream>

namespace reftorch::at::native {

// A mask means the coordinates of its true elements: one index tensor for each dimension of the mask.
static void append_mask(const Tensor& self, const Tensor& mask, std::vector<Tensor>& expanded) {
  const int64_t first = static_cast<int64_t>(expanded.size());
  for (int64_t d = 0; d < mask.dim(); d++) {
    TORCH_CHECK_INDEX(first + d < self.dim() && mask.sizes()[d] == self.sizes()[first + d], "The shape of the mask ",
                      mask.sizes(), " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(),
                      " at index ", first + d);
  }
  const Tensor coordinates = at::nonzero(mask); // (count, dim), in memory column by column
  for (int64_t d = 0; d < mask.dim(); d++) {
    expanded.push_back(as_view(coordinates, coordinates.sizes()[0], 1, d * coordinates.sizes()[0]));
  }
}

Tensor on_device_of(const Tensor& self, const Tensor& t) {
  if (!t.defined() || t.device() == self.device()) {
    return t;
  }
  Tensor moved = detail::empty_generic(t.sizes(), t.scalar_type(), self.device());
  return at::copy_(moved, t);
}

// Indices on the CPU are moved to the device of self; an index on another device is an error.
static std::vector<Tensor> expand_masks(const Tensor& self, TensorList indices) {
  std::vector<Tensor> expanded;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      expanded.emplace_back();
      continue;
    }
    TORCH_CHECK(index.device().is_cpu() || index.device() == self.device(),
                "indices should be either on cpu or on the same device as the indexed tensor (", self.device(), ")");
    const ScalarType type = index.scalar_type();
    TORCH_CHECK_INDEX(type == kLong || type == kInt || type == kByte || type == kBool,
                      "tensors used as indices must be long, int, byte or bool tensors");
    if (type == kBool || type == kByte) {
      if (type == kByte) {
        TORCH_WARN("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
      }
      append_mask(self, index, expanded);
    } else {
      expanded.push_back(type == kLong ? index : at::to(index, kLong));
    }
  }
  TORCH_CHECK_INDEX(static_cast<int64_t>(expanded.size()) <= self.dim(), "too many indices for tensor of dimension ",
                    self.dim());
  for (Tensor& index : expanded) {
    index = on_device_of(self, index);
  }
  expanded.resize(self.dim());
  return expanded;
}

static DimVector broadcast_shape(const std::vector<Tensor>& indices) {
  DimVector shape;
  try {
    for (const Tensor& index : indices) {
      if (index.defined()) {
        shape = infer_size_dimvector(shape, index.sizes());
      }
    }
  } catch (const c10::Error&) {
    std::ostringstream shapes;
    for (const Tensor& index : indices) {
      if (index.defined()) {
        shapes << (shapes.tellp() > 0 ? ", " : "") << index.sizes();
      }
    }
    TORCH_CHECK_INDEX(false, "shape mismatch: indexing tensors could not be broadcast together with shapes ",
                      shapes.str());
  }
  return shape;
}

AdvancedIndex::AdvancedIndex(const Tensor& self, TensorList indices) {
  const std::vector<Tensor> expanded = expand_masks(self, indices);
  const DimVector index_shape = broadcast_shape(expanded);
  int64_t first = -1, last = -1, count = 0;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (expanded[d].defined()) {
      first = first == -1 ? d : first;
      last = d;
      count++;
    }
  }
  TORCH_CHECK_INDEX(count > 0, "index: at least one of the indices must be a tensor");
  const int64_t place = last - first + 1 == count ? first : 0;
  DimVector strides, offset_shape;
  auto append_index_dims = [&] {
    for (int64_t size : index_shape) {
      shape.push_back(size);
      strides.push_back(0);
      offset_shape.push_back(size);
    }
  };
  const bool picks = std::find(index_shape.begin(), index_shape.end(), 0) == index_shape.end();
  for (int64_t d = 0; d < self.dim(); d++) {
    TORCH_CHECK_INDEX(!expanded[d].defined() || self.sizes()[d] != 0 || !picks,
                      "index is out of bounds for dimension with size 0");
    if (d == place) {
      append_index_dims();
    }
    if (!expanded[d].defined()) {
      shape.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
      offset_shape.push_back(1);
    }
  }
  view = as_view(self, shape, strides);
  for (int64_t d = 0; d < self.dim(); d++) {
    if (expanded[d].defined()) {
      const Tensor full = at::expand(expanded[d], index_shape);
      DimVector index_strides(offset_shape.size(), 0); // stride 0 in a dimension without an index
      std::copy(full.strides().begin(), full.strides().end(), index_strides.begin() + place);
      indices_.push_back({as_view(full, offset_shape, index_strides), self.sizes()[d],
                          self.strides()[d] * static_cast<int64_t>(self.itemsize())});
    }
  }
  if (count == 1) {
    rule.size = indices_[0].size;
    rule.stride_bytes = indices_[0].stride_bytes;
  }
}

Tensor AdvancedIndex::offsets() const {
  if (indices_.size() == 1) {
    return indices_[0].index;
  }
  Tensor sum = detail::empty_generic(indices_[0].index.sizes(), kLong, view.device());
  zero_impl(sum);
  for (size_t i = 0; i < indices_.size() && view.numel() > 0; i++) {
    // The message gives the number of the index tensor, as PyTorch's does.
    add_offsets_stub(sum.device().type(), sum, indices_[i].index.contiguous(), static_cast<int64_t>(i),
                     indices_[i].size, indices_[i].stride_bytes);
  }
  return sum;
}

Tensor AdvancedIndex::empty_result() const {
  Tensor result;
  TensorIteratorConfig config;
  config.add_output(result, view.scalar_type()).add_input(view).check_all_same_dtype(false);
  for (const Index& index : indices_) {
    config.add_input(index.index);
  }
  config.build(); // build() allocates the result
  return result;
}

void start_from(const Tensor& self, Tensor& out, MemoryFormat format) {
  if (!out.defined()) {
    out = at::clone(self, format);
  } else if (!out.is_same(self)) {
    TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
                c10::dtypeName(self.scalar_type()), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
    resize_output(out, self.sizes());
    at::copy_(out, self);
  }
}

Tensor& prepare_out(Tensor& out, IntArrayRef shape, const Tensor& self, const char* name) {
  if (!out.defined()) {
    out = detail::empty_generic(shape, self.scalar_type(), self.device());
    return out;
  }
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), name,
              "(): Expected self.dtype to be equal to out.dtype, but got ", self.scalar_type(), " and ",
              out.scalar_type());
  resize_output(out, shape);
  assert_no_internal_overlap(out);
  assert_no_overlap(out, self);
  return out;
}

void check_index_dtype(const char* name, const Tensor& index) {
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, name,
              "(): Expected dtype int32/int64 for index");
}

Tensor restride_dim(const Tensor& self, int64_t dim, IntArrayRef shape) {
  DimVector strides(self.sizes().empty() ? IntArrayRef(int64_t(1)) : self.strides());
  strides[dim] = 0;
  if (shape.empty()) {
    strides = DimVector();
  }
  return detail::alias_with_sizes_and_strides(self, shape, strides, self.storage_offset());
}

IndexRule rule_for(const Tensor& self, int64_t dim, IndexRule::Use use) {
  IndexRule rule;
  rule.use = use;
  rule.size = self.dim() == 0 ? 1 : self.sizes()[dim];
  rule.stride_bytes = (self.dim() == 0 ? 1 : self.strides()[dim]) * static_cast<int64_t>(self.itemsize());
  rule.dim = dim;
  return rule;
}

ReductionType reduction_type(const std::string& reduce) {
  return reduce == "prod"                      ? ReductionType::PROD
         : reduce == "amax" || reduce == "max" ? ReductionType::MAX
         : reduce == "amin" || reduce == "min" ? ReductionType::MIN
                                               : ReductionType::SUM;
}

Scalar reduction_identity(ReductionType type, ScalarType dtype) {
  if (type == ReductionType::SUM || type == ReductionType::PROD) {
    return type == ReductionType::PROD;
  }
  const bool largest = type == ReductionType::MIN;
  if (c10::isFloatingType(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return largest ? infinity : -infinity;
  }
  Scalar result;
  dispatch<IntegralTypesAndBool>(dtype, "scatter_reduce", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using limits = std::numeric_limits<scalar_t>;
    result = largest ? int64_t(limits::max()) : int64_t(limits::lowest());
  });
  return result;
}

void divide_by_count(Tensor& sum, Tensor& count) {
  const Tensor zero = at::eq(count, detail::wrapped_scalar_tensor(0));
  count = at::where(zero, detail::wrapped_scalar_tensor(1), count);
  const Tensor mean = sum.is_floating_point() ? at::div(sum, count) : at::floor_divide(sum, count);
  at::copy_(sum, mean);
}

} // namespace reftorch::at::native
