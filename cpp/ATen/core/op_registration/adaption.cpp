// Mirrors: aten/src/ATen/core/op_registration/adaption.cpp
#include <ATen/core/op_registration/adaption.h>

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>

namespace reftorch::at::impl {

using c10::Device;
using c10::DispatchKey;

static bool is_tensor_like(const Argument& argument) {
  return argument.type == TypeKind::Tensor || argument.type == TypeKind::TensorList ||
         argument.type == TypeKind::OptionalTensorList;
}

static bool is_output(const Argument& argument) {
  return argument.kwarg_only && argument.alias.is_write;
}

bool needs_device_check(const OperatorEntry& entry, DispatchKey row, const AnnotatedKernel& kernel) {
  const auto registered = entry.kernels.find(row);
  if (row == DispatchKey::CPU || registered == entry.kernels.end() || entry.hasTag(Tag::no_device_check) ||
      std::all_of(kernel.stubs.begin(), kernel.stubs.end(),
                  [](const auto* stub) { return stub->operands_share_device; })) {
    return false;
  }
  int64_t tensors = 0;
  for (const Argument& argument : entry.schema.arguments) {
    const bool is_list = is_tensor_like(argument) && argument.type != TypeKind::Tensor;
    const bool is_checked = is_tensor_like(argument) && (!argument.kwarg_only || is_output(argument));
    tensors += is_checked ? (is_list ? 2 : 1) : 0;
  }
  return tensors > 1;
}

namespace {

// "mm", "mm_out_out", "scatter_src": the name that PyTorch gives the C++ function of an op.
std::string native_name(const FunctionSchema& schema) {
  return schema.name + (schema.is_out() ? "_out" : "") +
         (schema.overload_name.empty() ? "" : "_" + schema.overload_name);
}

class SameDevice final {
 public:
  SameDevice(const OperatorHandle& op, DispatchKeySet keys) : op_(op), row_(keys.highestPriorityTypeId()) {}

  void check(const Argument& argument, const IValue& value) {
    if (value.isTensor()) {
      check(argument, value.toTensor());
    } else if (value.isTensorList()) {
      for (const Tensor& tensor : value.toTensorVector()) {
        check(argument, tensor);
      }
    }
  }

 private:
  void check(const Argument& argument, const Tensor& tensor) {
    if (!tensor.defined() || is_index_that_nobody_reads(argument, tensor)) {
      return;
    }
    if (!common_.has_value()) {
      common_ = tensor.device();
    }
    TORCH_CHECK(tensor.device() == *common_, "Expected all tensors to be on the same device, but got ", argument.name,
                " is on ", tensor.device(), ", different from other tensors on ", *common_,
                " (when checking argument in method wrapper_", row_, "_", native_name(op_.schema()), ")");
  }

  bool is_index_that_nobody_reads(const Argument& argument, const Tensor& tensor) const {
    return row_ == DispatchKey::Meta && tensor.device().is_cpu() && argument.name == "index";
  }

  const OperatorHandle& op_;
  const DispatchKey row_;
  std::optional<Device> common_;
};

struct CheckedKernel final : OperatorKernel {
  explicit CheckedKernel(const KernelFunction& kernel) : kernel(kernel) {}

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
    const std::vector<Argument>& arguments = op.schema().arguments;
    const IValue* values = last(*stack, arguments.size());
    SameDevice devices(op, keys);
    for (const bool outputs : {true, false}) { // the outputs first, as in PyTorch: they decide the common device
      for (size_t i = 0; i < arguments.size(); i++) {
        if (is_tensor_like(arguments[i]) && is_output(arguments[i]) == outputs &&
            (outputs || !arguments[i].kwarg_only)) {
          devices.check(arguments[i], values[i]);
        }
      }
    }
    kernel.boxed(op, keys, stack);
  }

  const KernelFunction kernel;
};

} // namespace

KernelFunction with_device_check(const KernelFunction& kernel) {
  return KernelFunction::makeFromFunctor(std::make_shared<CheckedKernel>(kernel));
}

} // namespace reftorch::at::impl
