// Mirrors: aten/src/ATen/TensorIterator.h
//
// TensorIterator turns operands of any shape, stride and dtype into a loop over pointers; every elementwise and
// reduction kernel runs over one. Left out: named dimensions, splitting for 32-bit indexing, vectorized reductions over
// several outputs.
//
// build() takes these steps, each in a member function:
//   check_mem_overlaps, compute_shape (broadcast), compute_types (promote), then either fast_set_up, or
//   compute_strides, reorder_dimensions, allocate_or_resize_outputs, coalesce_dimensions.
// Set-up is most of the cost of a small op, so the usual operands take short cuts: set_plain_types, set_up_dense and
// fast_set_up. After build(), shape() is the shape of the loop with the fastest dimension FIRST, and strides are in
// bytes. An operand that is broadcast along a dimension has stride 0 there.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace reftorch::at {

struct OperandInfo {
  Tensor* output = nullptr; // the caller's tensor; set to a new tensor if it was undefined
  const Tensor* input = nullptr;
  Tensor owned; // a copy of an input with another dtype, or a buffer for an output before its cast
  DimVector stride_bytes;
  void* data = nullptr;
  ScalarType target_dtype =
      ScalarType::Undefined; // the dtype declared for this operand; Undefined means the common dtype
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
  // Runs over a 2-d block: data[k] points to the first element of operand k, strides[k] is the step in bytes along
  // size0, and strides[ntensors + k] is the step along size1.
  using loop2d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  // The usual configurations. An undefined `out` is allocated. A defined `out` is resized, unless it is also an input:
  // then its shape must be the broadcast shape.
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b); // the result has the promoted dtype
  static TensorIterator binary_float_op(Tensor& out, const Tensor& a,
                                        const Tensor& b); // integers are promoted to the default float
  static TensorIterator comparison_op(Tensor& out, const Tensor& a, const Tensor& b); // the result is bool
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
  // Returns the dtype that the kernel reads or writes for operand `arg` (outputs come first).
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
  // Returns whether there is at most one dimension and every operand is dense, so that the kernel may treat the
  // operands as flat arrays.
  bool is_contiguous() const;

  // Calls the loop over the whole shape, on several threads if there are at least `grain_size` elements.
  void for_each(loop2d_t loop, int64_t grain_size = internal::GRAIN_SIZE) const;
  // Calls the loop over the elements [begin, end), counted with the fastest dimension first, on this thread.
  void serial_for_each(loop2d_t loop, int64_t begin, int64_t end) const;

  // Copies outputs that were computed in another dtype into the caller's tensors. Call it after the kernel.
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
  DimVector perm_; // perm_[i] is the dimension of the tensor that became dimension i of the loop
  ScalarType common_dtype_ = ScalarType::Undefined;
  Device device_;
  int num_outputs_ = 0;
  bool is_reduction_ = false;
};

// The configuration of a TensorIterator. Outputs are added before inputs. The tensors are borrowed and must outlive the
// iterator.
class TORCH_API TensorIteratorConfig final {
 public:
  TensorIteratorConfig& add_output(Tensor& t);
  // `dtype` is the dtype that the kernel writes, independent of the inputs (bool for comparisons).
  TensorIteratorConfig& add_output(Tensor& t, ScalarType dtype);
  TensorIteratorConfig& add_input(const Tensor& t);

#define ITERATOR_OPTION(name)              \
  TensorIteratorConfig& name(bool value) { \
    name##_ = value;                       \
    return *this;                          \
  }                                        \
  bool name##_ = false;
  ITERATOR_OPTION(promote_inputs_to_common_dtype)  // inputs are cast to the common dtype
  ITERATOR_OPTION(promote_integer_inputs_to_float) // if the common dtype is integral, the default float replaces it
  ITERATOR_OPTION(check_all_same_dtype)            // operands of different dtypes raise RuntimeError
  ITERATOR_OPTION(allow_cpu_scalars)               // 0-dim CPU tensors are allowed with tensors of another device
  ITERATOR_OPTION(allow_several_devices)           // for copies, whose kernel handles two devices
  ITERATOR_OPTION(is_reduction)      // outputs come expanded over the reduced dimensions: no resize, no overlap check
  ITERATOR_OPTION(no_resize_outputs) // a defined output must have the broadcast shape
#undef ITERATOR_OPTION

  // Loops over this shape instead of the broadcast shape. Every dimension of an operand must match the shape or have
  // size 1.
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
