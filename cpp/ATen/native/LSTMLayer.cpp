// Mirrors: aten/src/ATen/native/mkldnn/RNN.cpp
//
// A layer of an LSTM as one op, and its backward. Left out: oneDNN, whose place a kernel of this library takes; layers
// of a GRU, packed sequences, and mkldnn_rnn_layer_differentiable_backward, which is a formula in Python.
//
// Note [LSTM layer]
// Problem: a backward pass through the steps of a layer computes a gradient of w_hh at each step, and adds it to the
// gradients of the other steps. Many small products take longer than one large product, and each of them leaves a node
// in the graph. Trick: one op, mkldnn_rnn_layer, computes the whole layer. Only the product of the last state with w_hh
// has to wait for the step before, forward and backward. All other products are computed for all steps together: the
// steps are rows of one tall matrix. Name, schema and node (MkldnnRnnLayerBackward0) are PyTorch's, which calls oneDNN
// in this op. Limits: float32 on the CPU, padded sequences, no projection, not under vmap. run_stack in RNN.cpp decides
// whether the op runs; the small operations in RNN.cpp are the ones to read first. A second gradient differentiates a
// formula made of small operations, as in PyTorch: autograd/derivatives/lstm_layer.py.
#include <ATen/native/LSTMLayer.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(lstm_layer_stub)
DEFINE_DISPATCH(lstm_layer_backward_stub)

namespace {

using OptionalTensor = std::optional<Tensor>;

constexpr int64_t kLSTM = 2; // the only mode for which PyTorch calls the op

struct Sizes {
  int64_t T, B, I, H;
};

Sizes checked_sizes(const char* op, const Tensor& input, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                    const Tensor& b_hh, const Tensor& hx, const Tensor& cx, int64_t mode, int64_t hidden_size,
                    IntArrayRef batch_sizes) {
  TORCH_CHECK(mode == kLSTM, op, ": expected mode ", kLSTM, ", an LSTM, but got ", mode);
  TORCH_CHECK(batch_sizes.empty(), op, ": expected padded sequences, but got batch_sizes ", batch_sizes);
  TORCH_CHECK(input.dim() == 3 && input.numel() > 0, op, ": expected input of 3 dimensions that is not empty, but got ",
              "shape ", input.sizes());
  TORCH_CHECK(hidden_size > 0, op, ": expected a positive hidden_size, but got ", hidden_size);
  const Sizes s{input.sizes()[0], input.sizes()[1], input.sizes()[2], hidden_size};
  const auto check = [&](const char* name, const Tensor& t, IntArrayRef sizes) {
    TORCH_CHECK(t.sizes() == sizes, op, ": expected ", name, " of shape ", sizes, ", but got ", t.sizes());
    TORCH_CHECK(t.scalar_type() == input.scalar_type() && t.device() == input.device(), op, ": expected ", name,
                " of the dtype and on the device of input, ", toString(input.scalar_type()), " and ", input.device(),
                ", but got ", toString(t.scalar_type()), " and ", t.device());
  };
  check("weight0", w_ih, {4 * s.H, s.I});
  check("weight1", w_hh, {4 * s.H, s.H});
  check("weight2", b_ih, {4 * s.H});
  check("weight3", b_hh, {4 * s.H});
  check("hx_", hx, {s.B, s.H});
  check("cx_", cx, {s.B, s.H});
  return s;
}

// The two parts of the workspace, which is one flat tensor: the gates, (T, B, 4 H), and the states of the cells,
// (T, B, H).
std::pair<Tensor, Tensor> parts_of(const Tensor& workspace, const Sizes& s) {
  const int64_t states = s.T * s.B * s.H;
  return {at::view(at::narrow(workspace, 0, 0, 4 * states), {s.T, s.B, 4 * s.H}),
          at::view(at::narrow(workspace, 0, 4 * states, states), {s.T, s.B, s.H})};
}

// Floats of 16 bits, which autocast passes, are computed in float32. The workspace is float32 then.
bool is_reduced(const Tensor& t) {
  return c10::isReducedFloatingType(t.scalar_type());
}

Tensor up(const Tensor& t) {
  return at::to(t, kFloat);
}

// input: (T, B, I); weight0: (4 H, I); weight1: (4 H, H); weight2 and weight3, the biases: (4 H); hx_, cx_: (B, H).
// Returns the hidden states of all steps, (T, B, H), the last states h and c, (B, H), and the workspace, which is empty
// without `train`. num_layers, bidirectional and batch_first describe the network to which the layer belongs, and
// change nothing.
std::tuple<Tensor, Tensor, Tensor, Tensor> mkldnn_rnn_layer(const Tensor& input, const Tensor& weight0,
                                                            const Tensor& weight1, const Tensor& weight2,
                                                            const Tensor& weight3, const Tensor& hx_, const Tensor& cx_,
                                                            bool reverse, IntArrayRef batch_sizes, int64_t mode,
                                                            int64_t hidden_size, int64_t num_layers, bool has_biases,
                                                            bool bidirectional, bool batch_first, bool train) {
  const Sizes s = checked_sizes("mkldnn_rnn_layer", input, weight0, weight1, weight2, weight3, hx_, cx_, mode,
                                hidden_size, batch_sizes);
  if (is_reduced(input)) {
    const auto [hidden, hy, cy, workspace] =
        at::mkldnn_rnn_layer(up(input), up(weight0), up(weight1), up(weight2), up(weight3), up(hx_), up(cx_), reverse,
                             batch_sizes, mode, hidden_size, num_layers, has_biases, bidirectional, batch_first, train);
    const ScalarType dtype = input.scalar_type();
    return {at::to(hidden, dtype), at::to(hy, dtype), at::to(cy, dtype), workspace};
  }
  const auto empty = [&](IntArrayRef sizes) {
    return detail::empty_generic(sizes, input.scalar_type(), input.device());
  };
  const Tensor hidden = empty({s.T, s.B, s.H}), workspace = empty({5 * s.T * s.B * s.H});
  const auto [gates, cells] = parts_of(workspace, s);
  const Tensor bias = has_biases ? at::add(weight2, weight3) : at::zeros_like(weight2);
  lstm_layer_stub(input.device().type(), hidden, cells, gates, input.contiguous(), weight0.contiguous(), bias,
                  weight1.contiguous(), hx_.contiguous(), cx_.contiguous(), reverse);
  const int64_t last = reverse ? 0 : s.T - 1;
  return {hidden, at::clone(at::select(hidden, 0, last)), at::clone(at::select(cells, 0, last)),
          train ? workspace : empty({0})};
}

// The arguments are those of the forward, whose weights have other numbers here, its results, and their gradients.
// Returns the gradients of input, of the four weights, of hx_ and of cx_. The two biases are summands, so both have the
// same gradient.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> mkldnn_rnn_layer_backward(
    const Tensor& input, const Tensor& weight1, const Tensor& weight2, const Tensor& weight3, const Tensor& weight4,
    const Tensor& hx_, const Tensor& cx_tmp, const Tensor& output, const Tensor& hy_, const Tensor& cy_,
    const OptionalTensor& grad_output, const OptionalTensor& grad_hy, const OptionalTensor& grad_cy, bool reverse,
    int64_t mode, int64_t hidden_size, int64_t num_layers, bool has_biases, bool train, bool bidirectional,
    IntArrayRef batch_sizes, bool batch_first, const Tensor& workspace) {
  const char* const op = "mkldnn_rnn_layer_backward";
  const auto is_there = [](const OptionalTensor& t) { return t.has_value() && t->defined(); };
  if (!is_there(grad_output) && !is_there(grad_hy) && !is_there(grad_cy)) {
    return {};
  }
  const Sizes s =
      checked_sizes(op, input, weight1, weight2, weight3, weight4, hx_, cx_tmp, mode, hidden_size, batch_sizes);
  if (is_reduced(input)) {
    const auto up_if = [](const OptionalTensor& t) { return t.has_value() && t->defined() ? up(*t) : Tensor(); };
    const auto [gi, g1, g2, g3, g4, gh, gc] = mkldnn_rnn_layer_backward(
        up(input), up(weight1), up(weight2), up(weight3), up(weight4), up(hx_), up(cx_tmp), up(output), up(hy_),
        up(cy_), up_if(grad_output), up_if(grad_hy), up_if(grad_cy), reverse, mode, hidden_size, num_layers, has_biases,
        train, bidirectional, batch_sizes, batch_first, workspace);
    const auto down = [&](const Tensor& t) { return at::to(t, input.scalar_type()); };
    return {down(gi), down(g1), down(g2), down(g3), down(g4), down(gh), down(gc)};
  }
  const auto checked = [&](const char* name, const Tensor& t, IntArrayRef sizes) {
    TORCH_CHECK(t.sizes() == sizes && t.scalar_type() == input.scalar_type() && t.device() == input.device(), op,
                ": expected ", name, " of shape ", sizes, ", ", toString(input.scalar_type()), " and on ",
                input.device(), ", but got ", t.sizes(), ", ", toString(t.scalar_type()), " and ", t.device());
    return t;
  };
  const DimVector all{s.T, s.B, s.H}, one{s.B, s.H};
  checked("output", output, all);
  Tensor saved = workspace;
  if (saved.numel() == 0) { // the forward was not in training mode
    saved = std::get<3>(at::mkldnn_rnn_layer(input, weight1, weight2, weight3, weight4, hx_, cx_tmp, reverse,
                                             batch_sizes, mode, hidden_size, num_layers, has_biases, bidirectional,
                                             batch_first, /*train=*/true));
  }
  const auto [gates, cells] = parts_of(checked("workspace", saved, {5 * s.T * s.B * s.H}), s);

  const Tensor grad_gates = at::empty_like(gates);
  // Copies, because the kernel carries the gradients of the states in them from step to step.
  const auto state = [&](const char* name, const OptionalTensor& grad) {
    return is_there(grad) ? at::clone(checked(name, *grad, one).contiguous()) : at::zeros_like(hx_);
  };
  const Tensor grad_hx = state("grad_hy", grad_hy).contiguous(), grad_cx = state("grad_cy", grad_cy).contiguous();
  const Tensor grad_hidden = is_there(grad_output) ? checked("grad_output", *grad_output, all).contiguous() : Tensor();
  lstm_layer_backward_stub(input.device().type(), grad_gates, grad_hx, grad_cx, grad_hidden, cells, gates,
                           weight2.contiguous(), cx_tmp.contiguous(), reverse);

  // The steps as rows of one matrix. A step read the hidden state of the step before; the first one read hx.
  const auto rows = [](const Tensor& t) { return at::reshape(t, {-1, t.sizes()[2]}); };
  const Tensor of_all = rows(grad_gates);
  const Tensor of_first = at::select(grad_gates, 0, reverse ? s.T - 1 : 0);
  const Tensor of_later = rows(at::narrow(grad_gates, 0, reverse ? 0 : 1, s.T - 1));
  const Tensor before_later = rows(at::narrow(output, 0, reverse ? 1 : 0, s.T - 1));
  const Tensor grad_w_hh = at::addmm(at::mm(at::t(of_first), hx_), at::t(of_later), before_later);
  const Tensor grad_bias = has_biases ? at::sum(of_all, IntArrayRef({0})) : at::zeros_like(weight3);
  return {at::view(at::mm(of_all, weight1), input.sizes()),
          at::mm(at::t(of_all), rows(input)),
          grad_w_hh,
          grad_bias,
          grad_bias,
          grad_hx,
          grad_cx};
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor hx_, "
      "Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, bool has_biases, bool "
      "bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
      TORCH_FN(mkldnn_rnn_layer), kernels(lstm_layer_stub), variants::FUNCTION);
  m.def(
      "mkldnn_rnn_layer_backward(Tensor input, Tensor weight1, Tensor weight2, Tensor weight3, Tensor weight4, Tensor "
      "hx_, Tensor cx_tmp, Tensor output, Tensor hy_, Tensor cy_, Tensor? grad_output, Tensor? grad_hy, Tensor? "
      "grad_cy, bool reverse, int mode, int hidden_size, int num_layers, bool has_biases, bool train, bool "
      "bidirectional, int[] batch_sizes, bool batch_first, Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, "
      "Tensor, Tensor, Tensor)",
      TORCH_FN(mkldnn_rnn_layer_backward), kernels(lstm_layer_backward_stub), variants::NN);
}

} // namespace reftorch::at::native
