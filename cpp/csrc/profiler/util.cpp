// Mirrors: torch/csrc/profiler/util.cpp (saveExtraArgs, computeFlops)
#include <csrc/profiler/util.h>

#include <string>

namespace reftorch::torch::profiler {

using at::IValue;

// The product of two matrices, or of two batches of matrices: each element of `a` meets one row of `b`.
static int64_t flops_of_product(const at::Tensor& a, const at::Tensor& b) {
  return a.dim() >= 2 && b.dim() >= 2 ? 2 * a.numel() * b.size(-1) : 0;
}

// The number of places at which a window of `kernel` elements stands on `size` elements.
static int64_t output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  return stride > 0 ? (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1 : 0;
}

// The arguments are input, weight, bias, stride, padding, dilation and groups.
static int64_t flops_of_conv2d(const IValue* args) {
  const at::Tensor &input = args[0].toTensor(), &weight = args[1].toTensor();
  const at::DimVector &stride = args[3].toIntList(), &padding = args[4].toIntList(), &dilation = args[5].toIntList();
  const int64_t groups = args[6].toInt();
  if (input.dim() != 4 || weight.dim() != 4 || stride.size() != 2 || padding.size() != 2 || dilation.size() != 2 ||
      groups <= 0) {
    return 0;
  }
  int64_t places = input.size(0);
  for (size_t i = 0; i < 2; i++) {
    const auto dim = static_cast<int64_t>(i) + 2;
    places *= output_size(input.size(dim), weight.size(dim), stride[i], padding[i], dilation[i]);
  }
  return 2 * places * weight.size(2) * weight.size(3) * input.size(1) * weight.size(0) / groups;
}

int64_t compute_flops(const at::OperatorHandle& op, const at::Stack& stack) {
  const std::string name = op.schema().qualified_name();
  const IValue* const args = stack.end() - op.schema().arguments.size();
  if (!args[0].isTensor() || !args[0].toTensor().defined()) {
    return 0;
  }
  if (name == "aten::mm" || name == "aten::bmm") {
    return flops_of_product(args[0].toTensor(), args[1].toTensor());
  }
  if (name == "aten::addmm" || name == "aten::baddbmm") {
    return flops_of_product(args[1].toTensor(), args[2].toTensor());
  }
  if (name == "aten::conv2d" && op.schema().overload_name.empty()) { // the overload has a padding with a name
    return flops_of_conv2d(args);
  }
  return name == "aten::mul" || name == "aten::add" ? args[0].toTensor().numel() : 0;
}

} // namespace reftorch::torch::profiler
