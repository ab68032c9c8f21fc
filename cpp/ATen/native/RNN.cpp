// Mirrors: aten/src/ATen/native/RNN.cpp
//
// Recurrent networks as composites: every op here is made of linear, sigmoid, tanh and sums, which autograd records one
// by one; an LSTM of float32 has one op in their place, see Note [LSTM layer] and Note [Fused LSTM cell]. The file has
// three floors: a cell computes one step, a layer runs a cell over the steps of a sequence, and a stack feeds the
// outputs of a layer to the next one. Left out: quantized weights, and the ops of cuDNN and MIOpen.
//
// Sizes: T steps, B sequences in the batch, I features of the input, H of the hidden state, P of a projected state, and
// L states in all: one for each layer and direction.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/native/RNNChecks.h>

#include <algorithm>
#include <sstream>

namespace reftorch::at::native {
namespace {

using OptionalTensor = std::optional<Tensor>;

// --- the parameters of one layer in one direction --------------------------------------------------------------------

// w_ih: (G H, I), w_hh: (G H, H), b_ih and b_hh: (G H) for G gates; or w_hh: (G H, P) and w_hr: (P, H) for an LSTM with
// a projection. What is missing is undefined.
struct CellParams {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;

  Tensor linear_ih(const Tensor& input) const {
    return linear(input, w_ih, b_ih);
  }
  Tensor linear_hh(const Tensor& hidden) const {
    return linear(hidden, w_hh, b_hh);
  }
  Tensor project(const Tensor& hidden) const {
    return w_hr.defined() ? at::matmul(hidden, at::t(w_hr)) : hidden;
  }

 private:
  static Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return at::linear(x, weight, bias.defined() ? OptionalTensor(bias) : std::nullopt);
  }
};

// Divides the flat list of the module's parameters among layers and directions.
std::vector<CellParams> gather_params(TensorList params, bool has_biases, bool has_projections) {
  const size_t each = 2 + (has_biases ? 2 : 0) + (has_projections ? 1 : 0);
  TORCH_CHECK(params.size() % each == 0, "got an incorrect number of RNN parameters");
  std::vector<CellParams> result;
  for (size_t i = 0; i < params.size(); i += each) {
    CellParams p{params[i], params[i + 1], {}, {}, {}};
    if (has_biases) {
      p.b_ih = params[i + 2];
      p.b_hh = params[i + 3];
    }
    if (has_projections) {
      p.w_hr = params[i + each - 1];
    }
    result.push_back(p);
  }
  return result;
}

// --- cells -----------------------------------------------------------------------------------------------------------

// The state of a cell: {h} with h: (B, H), or {h, c} with h: (B, H) or (B, P) and c: (B, H) for an LSTM.
using Hidden = std::vector<Tensor>;

// One step: the gates of the input, (B, G H), and the last state lead to the next state. The gates of the input are
// linear_ih(input), which a layer computes for all steps at once. A step adds them out of place: under vmap, they may
// have one dimension more than the state.
using Cell = Hidden (*)(const Tensor& igates, const Hidden& hidden, const CellParams& params);

// Cuts gates of shape (B, G H) into G parts. Weights with too few rows give fewer parts, beyond which PyTorch reads.
std::vector<Tensor> split_gates(const Tensor& gates, int64_t count) {
  std::vector<Tensor> parts = at::unsafe_chunk(gates, count, 1);
  TORCH_CHECK(static_cast<int64_t>(parts.size()) == count && gates.sizes()[1] % count == 0,
              "expected the weights of a cell to have ", count,
              " times as many rows as the state has elements, but the gates have shape ", gates.sizes());
  return parts;
}

// h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
Hidden rnn_tanh_step(const Tensor& igates, const Hidden& hidden, const CellParams& params) {
  const Tensor gates = params.linear_hh(hidden[0]);
  return {at::tanh(at::add(gates, igates))};
}

// h' = relu(W_ih x + b_ih + W_hh h + b_hh)
Hidden rnn_relu_step(const Tensor& igates, const Hidden& hidden, const CellParams& params) {
  const Tensor gates = params.linear_hh(hidden[0]);
  return {at::relu(at::add(gates, igates))};
}

// Under vmap the gates may have a dimension more than the state, and where sizes do not fit, the message should be that
// of the small operations: neither takes the op of Note [Fused LSTM cell].
bool takes_fused_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& cx) {
  for (const Tensor* t : {&input_gates, &hidden_gates, &cx}) {
    const bool has_kernel = t->device().is_cpu() || t->device().is_cuda();
    if (t->scalar_type() != kFloat || !has_kernel || functorch::is_batched(*t)) {
      return false;
    }
  }
  return input_gates.dim() == 2 && cx.dim() == 2 && input_gates.sizes() == hidden_gates.sizes() &&
         cx.sizes()[0] == input_gates.sizes()[0] && 4 * cx.sizes()[1] == input_gates.sizes()[1];
}

// i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
// c' = sigmoid(f) c + sigmoid(i) tanh(g)
// h' = sigmoid(o) tanh(c'), which is projected if there is w_hr
Hidden lstm_step(const Tensor& igates, const Hidden& hidden, const CellParams& params) {
  const Tensor gates = params.linear_hh(hidden[0]);
  if (takes_fused_cell(igates, gates, hidden[1])) {
    const auto [h, c, workspace] = at::_thnn_fused_lstm_cell(igates, gates, hidden[1], std::nullopt, std::nullopt);
    return {params.project(h), c};
  }
  std::vector<Tensor> chunks = split_gates(at::add(gates, igates), 4);
  const Tensor in = at::sigmoid_(chunks[0]);
  const Tensor forget = at::sigmoid_(chunks[1]);
  const Tensor cell = at::tanh_(chunks[2]);
  const Tensor out = at::sigmoid_(chunks[3]);
  const Tensor kept = at::mul(forget, hidden[1]);
  const Tensor c = at::add(kept, at::mul(in, cell));
  return {params.project(at::mul(out, at::tanh(c))), c};
}

// r, z, n = W_ih x + b_ih and r', z', n' = W_hh h + b_hh
// h' = z (h - n) + n, where r = sigmoid(r + r'), z = sigmoid(z + z') and n = tanh(n + r n')
Hidden gru_step(const Tensor& igates, const Hidden& hidden, const CellParams& params) {
  std::vector<Tensor> of_input = split_gates(igates, 3);
  std::vector<Tensor> of_hidden = split_gates(params.linear_hh(hidden[0]), 3);
  const Tensor reset = at::sigmoid(at::add(of_hidden[0], of_input[0]));
  const Tensor update = at::sigmoid(at::add(of_hidden[1], of_input[1]));
  Tensor candidate = at::add(of_input[2], at::mul(of_hidden[2], reset));
  candidate = at::tanh_(candidate);
  const Tensor change = at::sub(hidden[0], candidate);
  return {at::add(at::mul(change, update), candidate)};
}

// --- layers ----------------------------------------------------------------------------------------------------------

Hidden narrow_hidden(const Hidden& hidden, int64_t start, int64_t length) {
  Hidden result;
  for (const Tensor& t : hidden) {
    result.push_back(at::narrow(t, 0, start, length));
  }
  return result;
}

// Concatenates states of several parts of the batch.
Hidden concat_hidden(const std::vector<Hidden>& parts) {
  Hidden result;
  for (size_t i = 0; i < parts[0].size(); i++) {
    std::vector<Tensor> tensors;
    for (const Hidden& part : parts) {
      tensors.push_back(part[i]);
    }
    result.push_back(at::cat(tensors, 0));
  }
  return result;
}

// Padded sequences (T, B, I) or packed ones: (sum of batch_sizes, I), as Note [Packed sequences] says.
struct Sequences {
  Tensor data;
  std::optional<std::vector<int64_t>> batch_sizes;
};

// The flags that all recurrent ops take.
struct StackOptions {
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

struct LayerOutput {
  Tensor data;
  Hidden hidden; // after the last step of each sequence
};

// Runs the cell over padded sequences, from the first step to the last or backwards.
LayerOutput full_layer(Cell cell, const Tensor& input, Hidden hidden, const CellParams& params, bool reverse) {
  const std::vector<Tensor> igates = at::unbind(params.linear_ih(input), 0);
  TORCH_CHECK(!igates.empty(), "Expected sequence length to be larger than 0 in RNN");
  std::vector<Tensor> outputs(igates.size());
  for (size_t step = 0; step < igates.size(); step++) {
    const size_t t = reverse ? igates.size() - 1 - step : step;
    hidden = cell(igates[t], hidden, params);
    outputs[t] = hidden[0];
  }
  return {at::stack(outputs, 0), hidden};
}

// Runs the cell over packed sequences. The batch becomes smaller where sequences end; their states are set aside.
LayerOutput packed_layer(Cell cell, const Tensor& data, const std::vector<int64_t>& batch_sizes, Hidden hidden,
                         const CellParams& params) {
  const Tensor igates = params.linear_ih(data);
  std::vector<Tensor> outputs;
  std::vector<Hidden> ended; // the shortest sequences first, which are the last ones of the batch
  int64_t offset = 0, last = batch_sizes[0];
  for (int64_t batch : batch_sizes) {
    if (batch < last) {
      ended.push_back(narrow_hidden(hidden, batch, last - batch));
      hidden = narrow_hidden(hidden, 0, batch);
    }
    hidden = cell(at::narrow(igates, 0, offset, batch), hidden, params);
    outputs.push_back(hidden[0]);
    offset += batch;
    last = batch;
  }
  ended.push_back(hidden);
  std::reverse(ended.begin(), ended.end());
  return {at::cat(outputs, 0), concat_hidden(ended)};
}

// Runs the cell backwards over packed sequences. The batch becomes larger where, seen from the end, sequences begin.
LayerOutput reversed_packed_layer(Cell cell, const Tensor& data, const std::vector<int64_t>& batch_sizes,
                                  const Hidden& initial, const CellParams& params) {
  const Tensor igates = params.linear_ih(data);
  std::vector<Tensor> outputs(batch_sizes.size());
  int64_t offset = data.sizes()[0], last = batch_sizes.back();
  Hidden hidden = narrow_hidden(initial, 0, last);
  for (size_t t = batch_sizes.size(); t-- > 0;) {
    const int64_t batch = batch_sizes[t];
    if (batch > last) {
      hidden = concat_hidden({hidden, narrow_hidden(initial, last, batch - last)});
    }
    offset -= batch;
    last = batch;
    hidden = cell(at::narrow(igates, 0, offset, batch), hidden, params);
    outputs[t] = hidden[0];
  }
  return {at::cat(outputs, 0), hidden};
}

// Returns whether the op of Note [LSTM layer] can run the layer. Where sizes do not fit, it does not, because the
// message should be that of the small operations.
bool takes_fused_layer(Cell cell, const Sequences& input, const Hidden& hidden, const CellParams& params) {
  if (cell != lstm_step || input.batch_sizes || params.w_hr.defined() || input.data.dim() != 3 ||
      input.data.numel() == 0) {
    return false;
  }
  const auto fits = [](const Tensor& t, IntArrayRef sizes) {
    return t.sizes() == sizes && t.scalar_type() == kFloat && t.device().is_cpu() && !functorch::is_batched(t);
  };
  const IntArrayRef steps = input.data.sizes();
  const int64_t B = steps[1], I = steps[2], H = hidden[0].dim() == 2 ? hidden[0].sizes()[1] : 0, G = 4 * H;
  const bool biases_fit = !params.b_ih.defined() || (fits(params.b_ih, {G}) && fits(params.b_hh, {G}));
  return H > 0 && biases_fit && fits(input.data, steps) && fits(hidden[0], {B, H}) && fits(hidden[1], {B, H}) &&
         fits(params.w_ih, {G, I}) && fits(params.w_hh, {G, H});
}

LayerOutput fused_layer(const Tensor& input, const Hidden& hidden, const CellParams& params, bool reverse,
                        const StackOptions& options) {
  const int64_t H = hidden[0].sizes()[1];
  const auto bias = [&](const Tensor& b) {
    return b.defined() ? b : at::zeros({4 * H}, input.scalar_type(), input.device());
  };
  const auto [output, h, c, workspace] =
      at::mkldnn_rnn_layer(input, params.w_ih, params.w_hh, bias(params.b_ih), bias(params.b_hh), hidden[0], hidden[1],
                           reverse, /*batch_sizes=*/{}, /*mode=*/2, H, options.num_layers, options.has_biases,
                           options.bidirectional, /*batch_first=*/false, options.train);
  return {output, {h, c}};
}

LayerOutput run_layer(Cell cell, const Sequences& input, const Hidden& hidden, const CellParams& params, bool reverse) {
  if (!input.batch_sizes) {
    return full_layer(cell, input.data, hidden, params, reverse);
  }
  return reverse ? reversed_packed_layer(cell, input.data, *input.batch_sizes, hidden, params)
                 : packed_layer(cell, input.data, *input.batch_sizes, hidden, params);
}

// --- stacks ----------------------------------------------------------------------------------------------------------

// Returns the output of the last layer, and the last states of all layers and directions, stacked: (L, B, H) for each
// tensor of the state.
std::pair<Tensor, Hidden> run_stack(Cell cell, Sequences input, TensorList states, TensorList flat_params,
                                    bool has_projections, const StackOptions& options) {
  const std::vector<CellParams> params = gather_params(flat_params, options.has_biases, has_projections);
  std::vector<std::vector<Tensor>> layers_of; // for each tensor of the state, its slices for layers and directions
  for (const Tensor& state : states) {
    layers_of.push_back(at::unbind(state, 0));
  }
  const size_t directions = options.bidirectional ? 2 : 1;
  const size_t slices = layers_of[0].size();
  for (const std::vector<Tensor>& layers : layers_of) {
    TORCH_CHECK(layers.size() == slices, "Expected as many layers in each hidden state in stacked_rnn, but got ",
                slices, " and ", layers.size());
  }
  TORCH_CHECK(slices % directions == 0 && params.size() % directions == 0,
              "Odd number of params or hiddens given to a bidirectional RNN");
  TORCH_CHECK(static_cast<size_t>(options.num_layers) == slices / directions,
              "Expected more hidden states in stacked_rnn");
  TORCH_CHECK(static_cast<size_t>(options.num_layers) == params.size() / directions,
              "Expected more weights in stacked_rnn");
  std::vector<std::vector<Tensor>> last_of(layers_of.size());
  for (size_t i = 0; i < slices; i += directions) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; d++) {
      Hidden hidden;
      for (const std::vector<Tensor>& layers : layers_of) {
        hidden.push_back(layers[i + d]);
      }
      const bool reverse = d == 1;
      LayerOutput output;
      if (takes_fused_layer(cell, input, hidden, params[i + d])) {
        for (size_t k = 0; k < hidden.size(); k++) {
          hidden[k] = at::select(states[k], 0, static_cast<int64_t>(i + d)); // as PyTorch's graph has it in this case
        }
        output = fused_layer(input.data, hidden, params[i + d], reverse, options);
      } else {
        output = run_layer(cell, input, hidden, params[i + d], reverse);
      }
      outputs.push_back(output.data);
      for (size_t k = 0; k < last_of.size(); k++) {
        last_of[k].push_back(output.hidden[k]);
      }
    }
    input.data = directions == 2 ? at::cat(outputs, -1) : outputs[0];
    if (options.dropout != 0 && options.train && i + directions < slices) {
      input.data = at::dropout(input.data, options.dropout, /*train=*/true);
    }
  }
  Hidden last;
  for (const std::vector<Tensor>& layers : last_of) {
    last.push_back(at::stack(layers, 0));
  }
  return {input.data, last};
}

// --- the ops ---------------------------------------------------------------------------------------------------------

// input: (T, B, I), or (B, T, I) if batch_first; hx: (L, B, H)
template <Cell cell>
std::tuple<Tensor, Tensor> rnn_input(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,
                                     int64_t num_layers, double dropout, bool train, bool bidirectional,
                                     bool batch_first) {
  check_rnn_devices(input, params, {hx});
  const Tensor steps = batch_first ? at::transpose(input, 0, 1) : input;
  auto [output, last] = run_stack(cell, {steps, std::nullopt}, {hx}, params, /*has_projections=*/false,
                                  {has_biases, num_layers, dropout, train, bidirectional});
  return {batch_first ? at::transpose_(output, 0, 1) : output, last[0]};
}

// data: (sum of batch_sizes, I); batch_sizes: (T), int64 on the CPU; hx: (L, B, H)
template <Cell cell>
std::tuple<Tensor, Tensor> rnn_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,
                                    bool has_biases, int64_t num_layers, double dropout, bool train,
                                    bool bidirectional) {
  auto [output, last] = run_stack(cell, {data, checked_batch_sizes(batch_sizes, data, hx)}, {hx}, params,
                                  /*has_projections=*/false, {has_biases, num_layers, dropout, train, bidirectional});
  return {output, last[0]};
}

// hx: {(L, B, H), (L, B, H)}, or {(L, B, P), (L, B, H)} with projections
std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                              int64_t num_layers, double dropout, bool train, bool bidirectional,
                                              bool batch_first) {
  const StackOptions options{has_biases, num_layers, dropout, train, bidirectional};
  check_lstm_hidden_state_shapes(hx, num_layers * (bidirectional ? 2 : 1));
  const bool has_projections = hx[0].sizes()[2] != hx[1].sizes()[2];
  check_rnn_devices(input, params, hx);
  const Tensor steps = batch_first ? at::transpose(input, 0, 1) : input;
  const auto [output, last] = run_stack(lstm_step, {steps, std::nullopt}, hx, params, has_projections, options);
  return {batch_first ? at::transpose(output, 0, 1) : output, last[0], last[1]};
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                             TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                             bool train, bool bidirectional) {
  const StackOptions options{has_biases, num_layers, dropout, train, bidirectional};
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  const bool has_projections = hx[0].size(2) != hx[1].size(2);
  check_lstm_hidden_state_shapes(hx, num_layers * (bidirectional ? 2 : 1));
  const Sequences sequences{data, checked_batch_sizes(batch_sizes, data, hx[0])};
  const auto [output, last] = run_stack(lstm_step, sequences, hx, params, has_projections, options);
  return {output, last[0], last[1]};
}

CellParams cell_params(const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  return {w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), Tensor()};
}

// input: (B, I); hx: (B, H); w_ih: (G H, I); w_hh: (G H, H)
template <Cell cell>
Tensor one_state_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                      const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  if (cell ==
      gru_step) { // of two mistakes in one call, PyTorch tells a GRU about the input, and the others about weights
    check_cell_input(input, w_ih.size(1));
    check_cell_hidden(input, hx, w_hh.size(1), 0);
    check_cell_weights(w_ih, w_hh, /*gates=*/3, w_hh.size(1));
  } else {
    check_cell_weights(w_ih, w_hh, /*gates=*/1, w_hh.size(1));
    check_cell_input(input, w_ih.size(1));
    check_cell_hidden(input, hx, w_hh.size(1), 0);
  }
  const CellParams params = cell_params(w_ih, w_hh, b_ih, b_hh);
  return cell(params.linear_ih(input), {hx}, params)[0];
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  TORCH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  const int64_t hidden_size = w_hh.size(1);
  check_cell_input(input, w_ih.size(1));
  check_cell_weights(w_ih, w_hh, 4, hidden_size);
  check_cell_hidden(input, hx[0], hidden_size, 0);
  check_cell_hidden(input, hx[1], hidden_size, 1);
  const CellParams params = cell_params(w_ih, w_hh, b_ih, b_hh);
  const Hidden next = lstm_step(params.linear_ih(input), {hx[0], hx[1]}, params);
  return {next[0], next[1]};
}

// The ops of a network with one state: `name`.input, `name`.data and the cell.
template <Cell cell>
void def_one_state(Library& m, const std::string& name) {
  m.def_composite(name +
                      ".input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
                      "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
                  TORCH_FN(rnn_input<cell>), tags(Tag::nondeterministic_seeded), variants::FUNCTION);
  m.def_composite(name +
                      ".data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
                      "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
                  TORCH_FN(rnn_data<cell>), tags(Tag::nondeterministic_seeded), variants::FUNCTION);
  m.def_composite(
      name + "_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
      TORCH_FN(one_state_cell<cell>), variants::FUNCTION);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  def_one_state<rnn_tanh_step>(m, "rnn_tanh");
  def_one_state<rnn_relu_step>(m, "rnn_relu");
  def_one_state<gru_step>(m, "gru");
  m.def_composite(
      "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(lstm_input), tags(Tag::nondeterministic_seeded), variants::FUNCTION);
  m.def_composite(
      "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
      "dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
      TORCH_FN(lstm_data), tags(Tag::nondeterministic_seeded), variants::FUNCTION);
  m.def_composite(
      "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
      "(Tensor, Tensor)",
      TORCH_FN(lstm_cell), variants::FUNCTION);
}

} // namespace reftorch::at::native
