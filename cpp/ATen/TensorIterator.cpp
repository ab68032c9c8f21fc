// Mirrors: aten/src/ATen/TensorIterator.cpp
#include <ATen/TensorIterator.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <functional>

namespace reftorch::at {

void TensorIterator::build(const TensorIteratorConfig& config) {
  is_reduction_ = config.is_reduction_;
  num_outputs_ = static_cast<int>(config.outputs_.size());
  for (const auto& ref : config.outputs_) {
    OperandInfo& op = operands_.emplace_back();
    op.output = ref.tensor;
    op.target_dtype = ref.dtype;
  }
  for (const Tensor* input : config.inputs_) {
    TORCH_CHECK(input->defined(), "TensorIterator: expected a defined tensor as input");
    operands_.emplace_back().input = input;
  }
  const bool plain = set_plain_types(config);
  if (!plain || !set_up_dense(config)) {
    if (!plain) {
      mark_read_write_outputs();
      check_mem_overlaps();
    }
    compute_shape(config);
    if (!plain) {
      mark_resize_outputs(config);
      compute_types(config);
    }
    if (!fast_set_up(config)) {
      compute_strides();
      reorder_dimensions();
      allocate_or_resize_outputs();
      coalesce_dimensions();
    }
  }
  for (OperandInfo& op : operands_) {
    op.data = op.tensor().data_ptr();
  }
}

void TensorIterator::mark_read_write_outputs() {
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    for (int j = num_outputs_; j < ntensors() && op.output->defined(); j++) {
      op.is_read_write = op.is_read_write || op.output->is_same(*operands_[j].input);
    }
  }
}

void TensorIterator::check_mem_overlaps() const {
  if (is_reduction_) {
    return;
  }
  for (int i = 0; i < num_outputs_; i++) {
    const Tensor& out = operands_[i].original();
    if (!out.defined()) {
      continue;
    }
    assert_no_internal_overlap(out);
    for (int j = num_outputs_; j < ntensors(); j++) {
      assert_no_partial_overlap(out, operands_[j].original());
    }
  }
}

void TensorIterator::compute_shape(const TensorIteratorConfig& config) {
  if (config.static_shape_.has_value()) {
    shape_ = *config.static_shape_;
    return;
  }
  bool first = true;
  // A defined output takes part only in reductions, whose outputs come expanded, and in ops without inputs.
  for (const OperandInfo& op : operands_) {
    const bool counts = !op.is_output() || is_reduction_ || (ninputs() == 0 && op.original().defined());
    if (!counts) {
      continue;
    }
    const IntArrayRef sizes = op.original().sizes();
    if (first) {
      shape_ = DimVector(sizes);
      first = false;
    } else if (IntArrayRef(shape_) != sizes) {
      shape_ = infer_size_dimvector(shape_, sizes);
    }
  }
}

void TensorIterator::mark_resize_outputs(const TensorIteratorConfig& config) {
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    if (!op.original().defined() || op.original().sizes() == IntArrayRef(shape_)) {
      continue;
    }
    if (!is_reduction_ && !config.no_resize_outputs_ && !op.is_read_write) {
      op.will_resize = true;
      continue;
    }
    TORCH_CHECK(is_reduction_, "output with shape ", op.original().sizes(), " doesn't match the broadcast shape ",
                IntArrayRef(shape_));
  }
}

// The op runs on the device of the first tensor that is not on the CPU; if all are on the CPU, on the CPU.
void TensorIterator::compute_device(const TensorIteratorConfig& config) {
  device_ = Device();
  for (const OperandInfo& op : operands_) {
    const Tensor& t = op.original();
    if (t.defined() && device_.is_cpu() && !t.device().is_cpu()) {
      device_ = t.device();
    }
  }
  if (device_.is_cpu() || config.allow_several_devices_) {
    return;
  }
  for (const OperandInfo& op : operands_) {
    const Tensor& t = op.original();
    const bool cpu_scalar = config.allow_cpu_scalars_ && !op.is_output() && t.dim() == 0 && t.device().is_cpu();
    TORCH_CHECK(!t.defined() || t.device() == device_ || cpu_scalar,
                "Expected all tensors to be on the same device, but found at least two devices, ", device_, " and ",
                t.device(), "!");
  }
}

void TensorIterator::compute_types(const TensorIteratorConfig& config) {
  const bool any_input = ninputs() > 0;
  compute_device(config);
  common_dtype_ = operands_[any_input ? num_outputs_ : 0].original().scalar_type();
  int of_another_dtype = -1; // the first input whose dtype differs
  for (int i = num_outputs_; i < ntensors(); i++) {
    const Tensor& t = operands_[i].original();
    if (of_another_dtype < 0 && t.scalar_type() != common_dtype_) {
      of_another_dtype = i;
    }
  }
  if (of_another_dtype >= 0) {
    TORCH_CHECK(!config.check_all_same_dtype_, "Found dtype ", operands_[of_another_dtype].original().scalar_type(),
                " but expected ", common_dtype_);
    ResultTypeState state;
    for (int i = num_outputs_; i < ntensors(); i++) {
      state = update_result_type_state(operands_[i].original(), state);
    }
    common_dtype_ = result_type(state);
  } else if (any_input && config.promote_inputs_to_common_dtype_ &&
             operands_[num_outputs_].original().unsafeGetTensorImpl()->is_wrapped_number_) {
    ResultTypeState state;
    for (int i = num_outputs_; i < ntensors(); i++) {
      state = update_result_type_state(operands_[i].original(), state);
    }
    common_dtype_ = result_type(state);
  }
  if (config.promote_integer_inputs_to_float_ && c10::isIntegralType(common_dtype_, /*includeBool=*/true)) {
    common_dtype_ = get_default_dtype();
  }
  for (int i = num_outputs_; i < ntensors(); i++) {
    OperandInfo& op = operands_[i];
    if (config.promote_inputs_to_common_dtype_ && op.original().scalar_type() != common_dtype_) {
      op.owned = cast_to_dtype(op.original(), common_dtype_);
    }
  }
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    const bool declared = op.target_dtype != ScalarType::Undefined;
    if (!declared) {
      op.target_dtype = any_input && !is_reduction_ ? common_dtype_
                        : op.original().defined()   ? op.original().scalar_type()
                                                    : common_dtype_;
    }
    if (!op.original().defined() || op.original().scalar_type() == op.target_dtype) {
      continue;
    }
    TORCH_CHECK(declared || !config.check_all_same_dtype_, "Found dtype ", op.original().scalar_type(),
                " but expected ", common_dtype_);
    TORCH_CHECK(c10::canCast(op.target_dtype, op.original().scalar_type()) || (declared && op.target_dtype == kBool),
                "result type ", op.target_dtype, " can't be cast to the desired output type ",
                op.original().scalar_type());
    // The output is computed in a buffer of this dtype; cast_outputs() copies the buffer to the caller's tensor.
    if (op.will_resize) {
      resize_output(*op.output, shape_);
      op.will_resize = false;
    }
    op.owned = detail::empty_generic(shape_, op.target_dtype, device_);
  }
}

// From here on, shape_ and strides have the last dimension of the tensors first, which is the fastest in C order.
void TensorIterator::compute_strides() {
  std::reverse(shape_.begin(), shape_.end());
  for (OperandInfo& op : operands_) {
    const Tensor& t = op.tensor();
    if (!t.defined() || op.will_resize) {
      continue;
    }
    op.stride_bytes.assign(shape_.size(), 0);
    const int64_t itemsize = static_cast<int64_t>(t.itemsize()), last = t.dim() - 1;
    for (int64_t d = 0; d <= last; d++) {
      const bool stretched = t.sizes()[last - d] == 1 && shape_[d] != 1;
      op.stride_bytes[d] = stretched ? 0 : t.strides()[last - d] * itemsize;
    }
  }
}

// Sorts the dimensions so that the dimension with the smallest strides comes first. For each pair, the first operand
// that has a preference decides (outputs before inputs). If no operand has one, the pair keeps its order.
void TensorIterator::reorder_dimensions() {
  const int nd = ndim();
  for (int d = 0; d < nd; d++) {
    perm_.push_back(d);
  }

  // Returns 1 if dim0 must come after dim1, -1 if before, and 0 if no operand has a preference.
  auto should_swap = [&](int64_t dim0, int64_t dim1) {
    for (const OperandInfo& op : operands_) {
      if (op.stride_bytes.empty() || op.will_resize) {
        continue;
      }
      const int64_t stride0 = op.stride_bytes[dim0], stride1 = op.stride_bytes[dim1];
      if (op.is_output() &&
          is_reduction_) { // reduced dimensions go first, so that each output is finished before the next
        if ((stride0 == 0) != (stride1 == 0)) {
          return stride1 == 0 ? 1 : -1;
        }
      }
      if (stride0 == 0 || stride1 == 0) {
        continue; // the operand is broadcast, so it has no preference
      }
      if (stride0 != stride1) {
        return stride0 < stride1 ? -1 : 1;
      }
      if (shape_[dim0] > shape_[dim1]) {
        return 1;
      }
    }
    return 0;
  };
  bool moved = false;
  for (int i = 1; i < nd; i++) { // insertion sort, because a pair without a preference must not end the search
    int dim1 = i;
    for (int dim0 = i - 1; dim0 >= 0; dim0--) {
      const int comparison = should_swap(perm_[dim0], perm_[dim1]);
      if (comparison > 0) {
        std::swap(perm_[dim0], perm_[dim1]);
        dim1 = dim0;
        moved = true;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  auto permute = [&](DimVector& values) {
    const DimVector given = values;
    for (int i = 0; i < nd; i++) {
      values[i] = given[perm_[i]];
    }
  };
  if (moved) {
    permute(shape_);
    for (OperandInfo& op : operands_) {
      if (!op.stride_bytes.empty()) {
        permute(op.stride_bytes);
      }
    }
  }
  for (int64_t& d : perm_) { // converted to the tensor's numbering of dimensions
    d = nd - 1 - d;
  }
}

// Allocates the outputs with the order of dimensions of the inputs, as PyTorch does: the result for a transposed tensor
// is transposed.
void TensorIterator::allocate_or_resize_outputs() {
  const int nd = ndim();
  const bool c_order = std::is_sorted(perm_.begin(), perm_.end(), std::greater<>());
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    if (op.tensor().defined() && !op.will_resize) {
      continue;
    }
    DimVector sizes(nd), strides(nd);
    int64_t step = 1;
    op.stride_bytes.assign(nd, 0);
    const int64_t itemsize = static_cast<int64_t>(c10::elementSize(op.target_dtype));
    for (int d = 0; d < nd; d++) {
      sizes[perm_[d]] = shape_[d];
      strides[perm_[d]] = step;
      op.stride_bytes[d] = step * itemsize;
      step *= std::max<int64_t>(shape_[d], 1);
    }
    if (op.will_resize) {
      resize_output(*op.output, sizes);
      op.output->unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, op.output->storage_offset());
    } else if (c_order) {
      *op.output = detail::empty_generic(sizes, op.target_dtype, device_);
    } else {
      *op.output = detail::empty_strided_generic(sizes, strides, op.target_dtype, device_);
    }
  }
}

// Merges neighbouring dimensions that every operand traverses with a single stride.
void TensorIterator::coalesce_dimensions() {
  if (ndim() <= 1) {
    return;
  }
  auto can_coalesce = [&](int dim0, int dim1) {
    if (shape_[dim0] == 1 || shape_[dim1] == 1) {
      return true;
    }
    return std::all_of(operands_.begin(), operands_.end(), [&](const OperandInfo& op) {
      return shape_[dim0] * op.stride_bytes[dim0] == op.stride_bytes[dim1];
    });
  };
  int last = 0;
  for (int dim = 1; dim < ndim(); dim++) {
    if (can_coalesce(last, dim)) {
      if (shape_[last] == 1) {
        for (OperandInfo& op : operands_) {
          op.stride_bytes[last] = op.stride_bytes[dim];
        }
      }
      shape_[last] *= shape_[dim];
    } else {
      last++;
      if (last != dim) {
        for (OperandInfo& op : operands_) {
          op.stride_bytes[last] = op.stride_bytes[dim];
        }
        shape_[last] = shape_[dim];
      }
    }
  }
  shape_.resize(last + 1);
  for (OperandInfo& op : operands_) {
    op.stride_bytes.resize(last + 1);
  }
}

int64_t TensorIterator::numel() const {
  return c10::multiply_integers(shape_);
}

bool TensorIterator::is_contiguous() const {
  if (numel() == 1) {
    return true;
  }
  if (ndim() != 1) {
    return false;
  }
  return std::all_of(operands_.begin(), operands_.end(), [](const OperandInfo& op) {
    return op.stride_bytes[0] == static_cast<int64_t>(op.tensor().itemsize());
  });
}

void TensorIterator::for_each(loop2d_t loop, int64_t grain_size) const {
  const int64_t n = numel();
  if (n == 0) {
    return;
  }
  if (n < grain_size || is_reduction_ || get_num_threads() == 1) {
    serial_for_each(loop, 0, n);
    return;
  }
  parallel_for(0, n, grain_size, [&](int64_t begin, int64_t end) { serial_for_each(loop, begin, end); });
}

void TensorIterator::serial_for_each(loop2d_t loop, int64_t begin, int64_t end) const {
  if (begin >= end) {
    return;
  }
  SmallVector<char*, 4> ptrs;
  SmallVector<int64_t, 8> strides;
  if (ndim() <= 1) {
    for (const OperandInfo& op : operands_) {
      const int64_t stride = op.stride_bytes.empty() ? 0 : op.stride_bytes[0];
      ptrs.push_back(static_cast<char*>(op.data) + begin * stride);
      strides.push_back(stride);
    }
    strides.resize(2 * strides.size(), 0);
    loop(ptrs.data(), strides.data(), end - begin, 1);
    return;
  }
  for (int d = 0; d < 2; d++) {
    for (const OperandInfo& op : operands_) {
      strides.push_back(op.stride_bytes[d]);
    }
  }
  for (const OperandInfo& op : operands_) {
    ptrs.push_back(static_cast<char*>(op.data));
  }
  if (begin == 0 && end == shape_[0] * shape_[1]) {
    loop(ptrs.data(), strides.data(), shape_[0], shape_[1]);
    return;
  }
  DimVector index(ndim(), 0);
  int64_t rest = begin;
  for (int d = 0; d < ndim(); d++) {
    index[d] = rest % shape_[d];
    rest /= shape_[d];
  }
  while (begin < end) {
    for (int k = 0; k < ntensors(); k++) {
      ptrs[k] = static_cast<char*>(operands_[k].data);
      for (int d = 0; d < ndim(); d++) {
        ptrs[k] += index[d] * operands_[k].stride_bytes[d];
      }
    }
    // A block of whole rows if `begin` is at the start of a row, otherwise the rest of the row.
    int64_t size0 = std::min(shape_[0] - index[0], end - begin), size1 = 1;
    if (index[0] == 0 && size0 == shape_[0]) {
      size1 = std::min(shape_[1] - index[1], (end - begin) / size0);
    }
    loop(ptrs.data(), strides.data(), size0, size1);
    begin += size0 * size1;
    index[0] += size0;
    if (index[0] < shape_[0]) {
      continue;
    }
    index[0] = 0;
    index[1] += size1;
    for (int d = 1; d + 1 < ndim() && index[d] == shape_[d]; d++) {
      index[d] = 0;
      index[d + 1]++;
    }
  }
}

void TensorIterator::cast_outputs() {
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    if (op.owned.defined()) {
      at::copy_(*op.output, op.owned);
    }
  }
}

} // namespace reftorch::at
