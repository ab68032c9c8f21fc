// Mirrors: aten/src/ATen/native/cuda/RNN.cu
//
// The fused cell of an LSTM and its backward. Left out: the fused cell of a GRU, the split of the backward into an op
// for autograd and one for the kernel, and _thnn_differentiable_lstm_cell_backward, which is a formula in Python.
//
// Note [Fused LSTM cell]
// Problem: after its product, a step of an LSTM does ten small operations. Each of them allocates a tensor, leaves a
// node in the graph, and reads again what the one before wrote. Trick: one op, _thnn_fused_lstm_cell, computes all ten
// in one loop, and keeps the gates for a backward that is one loop as well. Name and schema are PyTorch's, which has
// the op for GPUs. Here it runs for float32: on CUDA in every LSTM, and on the CPU in LSTMCell, in networks with packed
// sequences and in those with projections. On the CPU, padded sequences without projections have an op for the whole
// layer, see Note [LSTM layer].
// lstm_step in RNN.cpp has both ways, and the small operations are the ones to read first. Limits: a network under vmap
// takes the small operations. A second gradient differentiates a formula made of small operations, as it does in
// PyTorch: autograd/derivatives/lstm_cell.py.
#include <ATen/native/LSTMCell.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(lstm_cell_stub)
DEFINE_DISPATCH(lstm_cell_backward_stub)

namespace {

using OptionalTensor = std::optional<Tensor>;

// The same matrix, or a copy of it, in which the elements of a row are neighbours.
Tensor with_rows(const Tensor& t) {
  return t.strides()[1] == 1 ? t : t.contiguous();
}

bool is_there(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

void check_fused(const char* op, const char* name, const Tensor& t, IntArrayRef sizes, const Tensor& cx) {
  TORCH_CHECK(t.sizes() == sizes, op, ": expected ", name, " of shape ", sizes, ", but got ", t.sizes());
  TORCH_CHECK(t.scalar_type() == cx.scalar_type() && t.device() == cx.device(), op, ": expected ", name,
              " of the dtype and on the device of cx, ", toString(cx.scalar_type()), " and ", cx.device(), ", but got ",
              toString(t.scalar_type()), " and ", t.device());
}

// input_gates, hidden_gates: (B, 4 H); cx: (B, H); the biases: (4 H), both or none. Returns hy and cy, (B, H), and the
// workspace, (B, 4 H).
std::tuple<Tensor, Tensor, Tensor> fused_lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                                   const Tensor& cx, const OptionalTensor& input_bias,
                                                   const OptionalTensor& hidden_bias) {
  const char* const op = "_thnn_fused_lstm_cell";
  TORCH_CHECK(cx.dim() == 2, op, ": expected cx of 2 dimensions, but got shape ", cx.sizes());
  TORCH_CHECK(cx.is_floating_point(), op, ": expected floating point numbers, but got ", toString(cx.scalar_type()));
  const DimVector gates{cx.sizes()[0], 4 * cx.sizes()[1]}, biases{gates[1]};
  check_fused(op, "input_gates", input_gates, gates, cx);
  check_fused(op, "hidden_gates", hidden_gates, gates, cx);
  TORCH_CHECK(is_there(input_bias) == is_there(hidden_bias), op, ": expected both biases or none");
  Tensor sum = input_gates;
  if (is_there(input_bias)) {
    check_fused(op, "input_bias", *input_bias, biases, cx);
    check_fused(op, "hidden_bias", *hidden_bias, biases, cx);
    sum = at::add(input_gates, at::add(*input_bias, *hidden_bias));
  }
  const Tensor hy = detail::empty_generic(cx.sizes(), cx.scalar_type(), cx.device());
  const Tensor cy = detail::empty_generic(cx.sizes(), cx.scalar_type(), cx.device());
  const Tensor workspace = detail::empty_generic(gates, cx.scalar_type(), cx.device());
  lstm_cell_stub(cx.device().type(), hy, cy, workspace, with_rows(sum), with_rows(hidden_gates), with_rows(cx));
  return {hy, cy, workspace};
}

// Returns the gradients of all five arguments of the forward. The two summands have one gradient, and so have the two
// biases: in each pair, both results are the same tensor.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> fused_lstm_cell_backward(const OptionalTensor& grad_hy,
                                                                            const OptionalTensor& grad_cy,
                                                                            const Tensor& cx, const Tensor& cy,
                                                                            const Tensor& workspace, bool has_bias) {
  const char* const op = "_thnn_fused_lstm_cell_backward";
  if (!is_there(grad_hy) && !is_there(grad_cy)) {
    return {};
  }
  TORCH_CHECK(cx.dim() == 2, op, ": expected cx of 2 dimensions, but got shape ", cx.sizes());
  TORCH_CHECK(cx.is_floating_point(), op, ": expected floating point numbers, but got ", toString(cx.scalar_type()));
  const DimVector gates{cx.sizes()[0], 4 * cx.sizes()[1]};
  check_fused(op, "cy", cy, cx.sizes(), cx);
  check_fused(op, "workspace", workspace, gates, cx);
  const Tensor of_h = is_there(grad_hy) ? *grad_hy : at::zeros_like(cx);
  const Tensor of_c = is_there(grad_cy) ? *grad_cy : at::zeros_like(cx);
  check_fused(op, "grad_hy", of_h, cx.sizes(), cx);
  check_fused(op, "grad_cy", of_c, cx.sizes(), cx);
  const Tensor grad_gates = detail::empty_generic(gates, cx.scalar_type(), cx.device());
  const Tensor grad_cx = detail::empty_generic(cx.sizes(), cx.scalar_type(), cx.device());
  lstm_cell_backward_stub(cx.device().type(), grad_gates, grad_cx, with_rows(of_h), with_rows(of_c), with_rows(cx),
                          with_rows(cy), with_rows(workspace));
  const Tensor grad_bias = has_bias ? at::sum(grad_gates, IntArrayRef({0})) : Tensor();
  return {grad_gates, grad_gates, grad_cx, grad_bias, grad_bias};
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, Tensor? "
      "hidden_bias=None) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(fused_lstm_cell), kernels(lstm_cell_stub), variants::FUNCTION);
  m.def(
      "_thnn_fused_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool "
      "has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
      TORCH_FN(fused_lstm_cell_backward), kernels(lstm_cell_backward_stub), variants::NN);
}

} // namespace reftorch::at::native
