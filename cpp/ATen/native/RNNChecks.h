// Mirrors: aten/src/ATen/native/RNN.cpp (check_attributes, check_rnn_cell_forward_input, check_rnn_cell_forward_hidden)
//
// Checks of the arguments of recurrent ops. RNN.cpp says what the letters of the sizes mean.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <vector>

namespace reftorch::at::native {

inline void check_rnn_devices(const Tensor& input, TensorList params, TensorList hiddens) {
  const auto check = [&](const Tensor& t, const char* name) {
    TORCH_CHECK(input.device() == t.device(), "Input and ", name,
                " tensors are not at the same device, found input tensor at ", input.device(), " and ", name,
                " tensor at ", t.device());
  };
  for (const Tensor& h : hiddens) {
    check(h, "hidden");
  }
  for (const Tensor& p : params) {
    check(p, "parameter");
  }
}

// Returns batch_sizes as numbers: the number of sequences at each step of the packed sequences `data`. Raises
// RuntimeError if a number is larger than the one before it, or if their sum is not the size of data.
inline std::vector<int64_t> checked_batch_sizes(const Tensor& batch_sizes, const Tensor& data, const Tensor& hx) {
  TORCH_CHECK(batch_sizes.device().is_cpu(), "batch_sizes tensor should be on CPU, but got on ", batch_sizes.device());
  TORCH_CHECK(batch_sizes.dim() == 1 && batch_sizes.scalar_type() == kLong,
              "batch_sizes must be a 1D CPU int64 tensor, but got ", batch_sizes.dim(), "D ", batch_sizes.device(), " ",
              toString(batch_sizes.scalar_type()), " tensor");
  TORCH_CHECK(batch_sizes.numel() > 0, "Expected sequence length to be larger than 0 in RNN");
  TORCH_CHECK(data.dim() == 2, "packed data must have 2 dimensions, but got ", data.dim());
  std::vector<int64_t> result;
  for (int64_t i = 0; i < batch_sizes.numel(); i++) {
    result.push_back(at::select(batch_sizes, 0, i).item().toLong());
  }
  int64_t sum = 0;
  for (size_t t = 0; t < result.size(); t++) {
    TORCH_CHECK(result[t] > 0 && (t == 0 || result[t] <= result[t - 1]),
                "batch_sizes must be positive and must not grow, but got ", IntArrayRef(result));
    sum += result[t];
  }
  TORCH_CHECK(sum == data.sizes()[0], "batch_sizes must add up to the size of data, which is ", data.sizes()[0],
              ", but got ", IntArrayRef(result));
  TORCH_CHECK(hx.dim() == 3 && hx.sizes()[1] == result[0], "Expected hx to have the ", result[0],
              " sequences of the first step in dimension 1, but got hx of size ", hx.sizes());
  return result;
}

// Checks h_0 and c_0 in `hx`. `layers` is L, the number of states of all layers and directions.
inline void check_lstm_hidden_state_shapes(TensorList hx, int64_t layers) {
  static const char* const kNames[] = {"h_0", "c_0"};
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  for (size_t i = 0; i < 2; i++) {
    TORCH_CHECK(hx[i].dim() == 3, "For batched 3-D input, hx[", i, "] (", kNames[i], ") should be 3-D but got ",
                hx[i].dim(), "-D tensor");
  }
  for (size_t i = 0; i < 2; i++) {
    TORCH_CHECK(hx[i].sizes()[0] == layers, "Expected ", kNames[i], " size(0) to be ", layers,
                " (num_layers * num_directions), but got ", hx[i].sizes()[0]);
  }
}

inline void check_cell_input(const Tensor& input, int64_t input_size) {
  TORCH_CHECK(input.size(1) == input_size, "input has inconsistent input_size: got ", input.size(1), " expected ",
              input_size);
}

inline void check_cell_hidden(const Tensor& input, const Tensor& hx, int64_t hidden_size, int64_t label) {
  TORCH_CHECK(input.size(0) == hx.size(0), "Input batch size ", input.size(0), " doesn't match hidden", label,
              " batch size ", hx.size(0));
  TORCH_CHECK(hx.size(1) == hidden_size, "hidden", label, " has inconsistent hidden_size: got ", hx.size(1),
              ", expected ", hidden_size);
}

inline void check_cell_weights(const Tensor& w_ih, const Tensor& w_hh, int64_t gates, int64_t hidden_size) {
  TORCH_CHECK(w_ih.size(0) == gates * hidden_size, "weight_ih first dim must be ", gates,
              " * hidden_size = ", gates * hidden_size, ", but got ", w_ih.size(0));
  TORCH_CHECK(w_hh.size(0) == gates * hidden_size, "weight_hh first dim must be ", gates,
              " * hidden_size = ", gates * hidden_size, ", but got ", w_hh.size(0));
}

} // namespace reftorch::at::native
