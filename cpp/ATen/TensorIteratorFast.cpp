// Mirrors: aten/src/ATen/TensorIterator.cpp (fast_set_up, compute_fast_setup_type)
//
// Short cuts through TensorIterator::build for the usual operands. Each short cut gives the result of the general way.
#include <ATen/EmptyTensor.h>
#include <ATen/Resize.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorUtils.h>

#include <algorithm>

namespace reftorch::at {

// Returns whether the op can write into a defined output as it is: the output has the shape, dtype and device of every
// input, is dense, and shares memory with no input but itself (an op in place).
static bool is_ready(const Tensor& output, const SmallVector<const Tensor*, 4>& inputs) {
  for (const Tensor* input : inputs) {
    if (output.is_same(*input)) {
      continue;
    }
    if (output.sizes() != input->sizes() || output.scalar_type() != input->scalar_type() ||
        output.device() != input->device() || output.is_alias_of(*input)) {
      return false;
    }
  }
  return output.is_contiguous();
}

// Handles inputs of one dtype and outputs that are not yet defined or ready: nothing can overlap, be promoted or be
// resized. Most small ops are of this kind, and half of their cost is set-up.
bool TensorIterator::set_plain_types(const TensorIteratorConfig& config) {
  if (is_reduction_ || config.static_shape_.has_value() || ninputs() == 0) {
    return false;
  }
  const Tensor& first = *operands_[num_outputs_].input;
  common_dtype_ = first.scalar_type();
  device_ = first.device();
  if (config.promote_integer_inputs_to_float_ && !c10::isFloatingType(common_dtype_)) {
    return false;
  }
  for (int i = 0; i < num_outputs_; i++) {
    const OperandInfo& op = operands_[i];
    const bool has_dtype = op.target_dtype == ScalarType::Undefined || op.target_dtype == common_dtype_;
    if (op.output->defined() && !(has_dtype && is_ready(*op.output, config.inputs_))) {
      return false;
    }
  }
  for (int i = num_outputs_; i < ntensors(); i++) {
    const Tensor& t = *operands_[i].input;
    if (t.scalar_type() != common_dtype_ || t.device() != device_ || t.unsafeGetTensorImpl()->is_wrapped_number_) {
      return false;
    }
  }
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    op.target_dtype = op.target_dtype == ScalarType::Undefined ? common_dtype_ : op.target_dtype;
  }
  return true;
}

// Returns whether the strides of a contiguous tensor are the row-major strides of its sizes, also in dimensions of size
// 1.
static bool has_usual_strides(const Tensor& t) {
  int64_t expected = 1;
  for (int64_t d = t.dim() - 1; d >= 0; d--) {
    if (t.strides()[d] != expected) {
      return false;
    }
    expected *= std::max<int64_t>(t.sizes()[d], 1);
  }
  return true;
}

// Returns the number of elements of the smaller inputs, if these inputs are broadcast along leading dimensions, as a
// bias that is added to rows: their sizes are the last dimensions of `shape`. Returns 0 if an input has another form,
// if the smaller inputs differ in length, or if a stride is not row-major. Strides of dimensions of size 1 count too,
// because the general way would lay out the result by them.
static int64_t length_of_rows(const SmallVector<const Tensor*, 4>& inputs, IntArrayRef shape) {
  int64_t length = 0;
  for (const Tensor* input : inputs) {
    const IntArrayRef sizes = input->sizes();
    if (!has_usual_strides(*input) || sizes.size() > shape.size()) {
      return 0;
    }
    if (sizes == shape) {
      continue;
    }
    size_t ones = 0;
    while (ones < sizes.size() && sizes[ones] == 1) {
      ones++;
    }
    const size_t ndim = sizes.size() - ones;
    if (ndim == 0 || sizes.slice(ones, ndim) != shape.slice(shape.size() - ndim, ndim) ||
        (length != 0 && length != input->numel())) {
      return 0;
    }
    length = input->numel();
  }
  return length;
}

// Runs after set_plain_types, if all inputs are dense. Inputs of one shape give a loop of one dimension. If some inputs
// consist of the last dimensions of the largest input, the loop has two dimensions.
bool TensorIterator::set_up_dense(const TensorIteratorConfig& config) {
  const Tensor* largest = config.inputs_[0];
  bool one_shape = true;
  for (const Tensor* input : config.inputs_) {
    if (!input->is_contiguous()) {
      return false;
    }
    if (input != largest && input->sizes() != largest->sizes()) {
      one_shape = false;
      largest = input->numel() > largest->numel() ? input : largest;
    }
  }
  const int64_t n = largest->numel(), length = one_shape ? n : length_of_rows(config.inputs_, largest->sizes());
  if (!one_shape && length == 0) {
    return false;
  }
  shape_.assign(1, length);
  if (!one_shape) {
    shape_.push_back(n / length);
  }
  for (OperandInfo& op : operands_) {
    if (op.is_output() && !op.output->defined()) {
      *op.output = detail::empty_generic(largest->sizes(), op.target_dtype, device_);
    }
    const auto itemsize = static_cast<int64_t>(op.original().itemsize());
    op.stride_bytes.assign(1, itemsize);
    if (!one_shape) {
      op.stride_bytes.push_back(op.original().numel() == n ? length * itemsize : 0);
    }
  }
  return true;
}

// If all operands are dense in the same order, the loop has one dimension and nothing needs to be sorted. This is the
// usual case, so it decides what a small op costs.
bool TensorIterator::fast_set_up(const TensorIteratorConfig& config) {
  if (is_reduction_ || config.static_shape_.has_value()) {
    return false;
  }
  bool any_number = false, usual_strides = true;
  for (const OperandInfo& op : operands_) {
    const Tensor& t = op.tensor();
    const bool number = !op.is_output() && t.dim() == 0; // has stride 0 while the other operands advance
    if (t.defined() && !op.will_resize && !number && (!t.is_contiguous() || t.sizes() != IntArrayRef(shape_))) {
      return fast_set_up_in_order();
    }
    any_number = any_number || number;
    usual_strides = usual_strides && (number || !t.defined() || has_usual_strides(t));
  }
  // If an operand is a number, the result in PyTorch also follows the strides of dimensions of size 1. The short cut
  // ignores such strides, so TensorIterator::build computes the layout in full.
  if (any_number && !usual_strides) {
    return false;
  }
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    if (!op.tensor().defined()) {
      *op.output = detail::empty_generic(shape_, op.target_dtype, device_);
    } else if (op.will_resize) {
      resize_output(*op.output, shape_);
    }
  }
  walk_as_one_dimension();
  return true;
}

// fast_set_up for dense operands whose order is not C order: all are channels_last, or all have equal strides.
bool TensorIterator::fast_set_up_in_order() {
  const Tensor* first = nullptr;
  bool channels_last = shape_.size() == 4, same_strides = true;
  for (const OperandInfo& op : operands_) {
    const Tensor& t = op.tensor();
    if (!t.defined() || op.will_resize) {
      continue;
    }
    if (t.sizes() != IntArrayRef(shape_) || !t.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
      return false;
    }
    first = first == nullptr ? &t : first;
    channels_last = channels_last && t.is_contiguous(MemoryFormat::ChannelsLast);
    same_strides = same_strides && t.strides() == first->strides();
  }
  if (!channels_last && !same_strides) {
    return false;
  }
  const DimVector strides = channels_last ? detail::channels_last_strides(shape_) : DimVector(first->strides());
  for (int i = 0; i < num_outputs_; i++) {
    OperandInfo& op = operands_[i];
    if (!op.tensor().defined()) {
      *op.output = detail::empty_strided_generic(shape_, strides, op.target_dtype, device_);
    } else if (op.will_resize) {
      resize_output(*op.output, shape_);
      op.output->unsafeGetTensorImpl()->set_sizes_and_strides(shape_, strides, op.output->storage_offset());
    }
  }
  walk_as_one_dimension();
  return true;
}

void TensorIterator::walk_as_one_dimension() {
  const int64_t n = numel();
  if (shape_.size() != 1) {
    shape_.assign(1, n);
  }
  for (OperandInfo& op : operands_) {
    const Tensor& t = op.tensor();
    op.stride_bytes.assign(1, t.dim() == 0 && n != 1 ? 0 : static_cast<int64_t>(t.itemsize()));
  }
}

} // namespace reftorch::at
