// Mirrors: aten/src/ATen/TensorIterator.h
// What every elementwise and reduction kernel shares: from operands of any shape, stride and dtype to a loop over
// pointers. Left out: named dimensions, splitting for 32-bit indexing, vectorized reductions over several outputs, GPU
// offset calculators.
//
// The steps of build(), each a function of the same name:
//   check overlap -> compute_shape (broadcast) -> compute_types (promote) -> fast_set_up, or: compute_strides,
//   reorder_dimensions, allocate outputs, coalesce_dimensions.
// A small op is mostly set-up, so the usual kinds take short cuts: set_plain_types, set_up_dense, fast_set_up.
// Afterwards shape() is the loop's shape with the fastest dimension FIRST, and strides are in bytes; an operand that is
// broadcast has stride 0 in that dimension.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace reftorch::at {

struct OperandInfo {
  Tensor* output = nullptr; // the caller's tensor, written back if it is allocated here
  const Tensor* input = nullptr;
  Tensor owned; // a cast copy of an input, or the buffer an output is computed in before it is cast
  DimVector stride_bytes;
  void* data = nullptr;
  ScalarType target_dtype = ScalarType::Undefined; // declared for this operand; Undefined: the common dtype
  bool will_resize = false;
  bool is_read_write = false; // an output that is also an input

  bool is_output() const {
    return output != nullptr;
  }
  const Tensor& original() const {
    return output != nullptr ? *output : *input;
  }
  const Tensor& tensor() const {
    return owned.defined() ? owned : original();
  }
};

class TORCH_API TensorIterator final {
 public:
  // Runs over a 2-d piece: data[k] points at operand k's first element, strides[k] its step in bytes along size0,
  // strides[ntensors + k] along size1.
  using loop2d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  // The usual set-ups. An undefined `out` is allocated; a defined one is resized if it is no input, else its shape must
  // fit.
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b); // result in the promoted dtype
  static TensorIterator binary_float_op(Tensor& out, const Tensor& a,
                                        const Tensor& b); // integers promoted to the default float
  static TensorIterator comparison_op(Tensor& out, const Tensor& a, const Tensor& b); // bool result
  static TensorIterator unary_op(Tensor& out, const Tensor& a);
  static TensorIterator unary_float_op(Tensor& out, const Tensor& a);
  static TensorIterator nullary_op(Tensor& out);

  int ndim() const {
    return static_cast<int>(shape_.size());
  }
  IntArrayRef shape() const {
    return shape_;
  }
  int64_t numel() const;
  int ntensors() const {
    return static_cast<int>(operands_.size());
  }
  int ninputs() const {
    return ntensors() - num_outputs_;
  }
  // The dtype the kernel reads and writes for operand `arg` (outputs first).
  ScalarType dtype(int arg = 0) const {
    return operands_[arg].tensor().scalar_type();
  }
  ScalarType input_dtype(int arg = 0) const {
    return dtype(num_outputs_ + arg);
  }
  ScalarType common_dtype() const {
    return common_dtype_;
  }
  c10::DeviceType device_type() const {
    return device_.type();
  }
  const Tensor& tensor(int arg) const {
    return operands_[arg].tensor();
  }
  const Tensor& output(int arg = 0) const {
    return operands_[arg].original();
  }
  const Tensor& input(int arg = 0) const {
    return operands_[num_outputs_ + arg].original();
  }
  void* data_ptr(int arg) const {
    return operands_[arg].data;
  }
  IntArrayRef strides(int arg) const {
    return operands_[arg].stride_bytes;
  }
  // One dimension at most and every operand dense: the kernel may treat them as flat arrays.
  bool is_contiguous() const;

  // Calls the loop over the whole shape; in several threads where there are more than `grain_size` elements.
  void for_each(loop2d_t loop, int64_t grain_size = internal::GRAIN_SIZE) const;
  // The part [begin, end) of the elements, counted with the fastest dimension first, on this thread.
  void serial_for_each(loop2d_t loop, int64_t begin, int64_t end) const;

  // Copies outputs computed in another dtype into the caller's. Call it after the kernel.
  void cast_outputs();

 private:
  friend class TensorIteratorConfig;
  void build(const class TensorIteratorConfig& config);
  bool set_plain_types(const TensorIteratorConfig& config);
  bool set_up_dense(const TensorIteratorConfig& config);
  void mark_read_write_outputs();
  void check_mem_overlaps() const;
  void compute_shape(const TensorIteratorConfig& config);
  void mark_resize_outputs(const TensorIteratorConfig& config);
  void compute_device(const TensorIteratorConfig& config);
  void compute_types(const TensorIteratorConfig& config);
  bool fast_set_up(const TensorIteratorConfig& config);
  bool fast_set_up_in_order();
  void walk_as_one_dimension();
  void compute_strides();
  void reorder_dimensions();
  void allocate_or_resize_outputs();
  void coalesce_dimensions();

  SmallVector<OperandInfo, 4> operands_;
  DimVector shape_;
  DimVector perm_; // perm_[i] is the tensor dimension that became dimension i, after reversal
  ScalarType common_dtype_ = ScalarType::Undefined;
  Device device_;
  int num_outputs_ = 0;
  bool is_reduction_ = false;
};

// How a TensorIterator is asked for. Outputs are added before inputs. Tensors are borrowed: they must outlive the
// iterator.
class TORCH_API TensorIteratorConfig final {
 public:
  TensorIteratorConfig& add_output(Tensor& t);
  // `dtype`: what the kernel writes, whatever the inputs are (bool for comparisons).
  TensorIteratorConfig& add_output(Tensor& t, ScalarType dtype);
  TensorIteratorConfig& add_input(const Tensor& t);

#define ITERATOR_OPTION(name)              \
  TensorIteratorConfig& name(bool value) { \
    name##_ = value;                       \
    return *this;                          \
  }                                        \
  bool name##_ = false;
  ITERATOR_OPTION(promote_inputs_to_common_dtype)  // cast inputs to the common dtype
  ITERATOR_OPTION(promote_integer_inputs_to_float) // and integers to the default float first
  ITERATOR_OPTION(check_all_same_dtype)            // RuntimeError where inputs differ
  ITERATOR_OPTION(allow_cpu_scalars)               // a 0-dim cpu tensor beside cuda tensors
  ITERATOR_OPTION(allow_several_devices)           // a copy: its kernel knows what to do
  ITERATOR_OPTION(is_reduction) // outputs are given expanded over the reduced dimensions: no resize, no overlap check
  ITERATOR_OPTION(no_resize_outputs) // a defined output must have the broadcast shape
#undef ITERATOR_OPTION

  // Loop over this shape instead of the broadcast one (operands are given with matching sizes or size 1).
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);

  TensorIterator build();

 private:
  friend class TensorIterator;
  struct OutputRef {
    Tensor* tensor;
    ScalarType dtype;
  };
  SmallVector<OutputRef, 2> outputs_;
  SmallVector<const Tensor*, 4> inputs_;
  std::optional<DimVector> static_shape_;
};

} // namespace reftorch::at
