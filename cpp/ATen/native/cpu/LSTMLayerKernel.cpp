// Mirrors: aten/src/ATen/native/mkldnn/RNN.cpp (mkldnn_rnn_layer, mkldnn_rnn_layer_backward)
//
// The products of a layer of an LSTM by calls of a BLAS, and the steps one after the other. The arithmetic of a step is
// in LSTMRows.h.
#include <ATen/native/CPUBlas.h>
#include <ATen/native/LSTMLayer.h>
#include <ATen/native/cpu/LSTMRows.h>

namespace reftorch::at::native {
namespace {

constexpr auto kPlain = cpublas::TransposeType::NoTranspose, kTransposed = cpublas::TransposeType::Transpose;

// The order of the steps: step 0, 1, ... of the network is step at(0), at(1), ... of the input.
struct Order {
  int64_t T;
  bool reverse;

  int64_t at(int64_t step) const {
    return reverse ? T - 1 - step : step;
  }
};

// gates (T, B, 4 H) = input (T, B, I) w_ih^T (I, 4 H)
// For each step, gates (B, 4 H) += h (B, H) w_hh^T (H, 4 H). Then the cell adds the bias and computes the next h and c.
void lstm_layer_kernel(const Tensor& hidden, const Tensor& cells, const Tensor& gates, const Tensor& input,
                       const Tensor& w_ih, const Tensor& bias, const Tensor& w_hh, const Tensor& hx, const Tensor& cx,
                       bool reverse) {
  dispatch<FloatingTypes>(input.scalar_type(), "mkldnn_rnn_layer_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const int64_t T = input.sizes()[0], B = input.sizes()[1], I = input.sizes()[2], H = hx.sizes()[1], G = 4 * H;
    const Order order{T, reverse};
    scalar_t *all_h = hidden.data_ptr<scalar_t>(), *all_c = cells.data_ptr<scalar_t>();
    scalar_t* all_gates = gates.data_ptr<scalar_t>();
    const scalar_t *x = input.data_ptr<scalar_t>(), *w = w_hh.data_ptr<scalar_t>();
    const scalar_t* summand = bias.data_ptr<scalar_t>();
    cpublas::gemm<scalar_t>(kPlain, kTransposed, T * B, G, I, 1, x, I, w_ih.data_ptr<scalar_t>(), I, 0, all_gates, G);
    const scalar_t *h = hx.data_ptr<scalar_t>(), *c = cx.data_ptr<scalar_t>();
    for (int64_t step = 0; step < T; step++) {
      const int64_t t = order.at(step);
      scalar_t *next_h = all_h + t * B * H, *next_c = all_c + t * B * H, *of_step = all_gates + t * B * G;
      cpublas::gemm<scalar_t>(kPlain, kTransposed, B, G, H, 1, h, H, w, H, 1, of_step, G);
      for_each_sequence(B, H, [&](int64_t b) {
        scalar_t* row = of_step + b * G;
        lstm_cell_row(next_h + b * H, next_c + b * H, row, row, summand, c + b * H, H);
      });
      h = next_h;
      c = next_c;
    }
  });
}

// For each step, from the last one that ran to the first: grad_h += grad_hidden; the backward of the cell computes
// grad_gates, and grad_c of the step before; then grad_h (B, H) = grad_gates (B, 4 H) w_hh (4 H, H).
void lstm_layer_backward_kernel(const Tensor& grad_gates, const Tensor& grad_h, const Tensor& grad_c,
                                const Tensor& grad_hidden, const Tensor& cells, const Tensor& gates, const Tensor& w_hh,
                                const Tensor& cx, bool reverse) {
  dispatch<FloatingTypes>(gates.scalar_type(), "mkldnn_rnn_layer_backward_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const int64_t T = cells.sizes()[0], B = cells.sizes()[1], H = cells.sizes()[2], G = 4 * H;
    const Order order{T, reverse};
    scalar_t *gh = grad_h.data_ptr<scalar_t>(), *gc = grad_c.data_ptr<scalar_t>();
    const scalar_t *all_c = cells.data_ptr<scalar_t>(), *w = w_hh.data_ptr<scalar_t>();
    const scalar_t* of_output = grad_hidden.defined() ? grad_hidden.data_ptr<scalar_t>() : nullptr;
    for (int64_t step = T - 1; step >= 0; step--) {
      const int64_t t = order.at(step);
      const scalar_t* before = step > 0 ? all_c + order.at(step - 1) * B * H : cx.data_ptr<scalar_t>();
      const scalar_t *after = all_c + t * B * H, *of_step = gates.data_ptr<scalar_t>() + t * B * G;
      scalar_t* grad_of_step = grad_gates.data_ptr<scalar_t>() + t * B * G;
      for_each_sequence(B, H, [&](int64_t b) {
        const int64_t row = b * H;
        if (of_output != nullptr) {
          for (int64_t j = 0; j < H; j++) {
            gh[row + j] += of_output[t * B * H + row + j];
          }
        }
        lstm_cell_backward_row(grad_of_step + b * G, gc + row, gh + row, gc + row, before + row, after + row,
                               of_step + b * G, H);
      });
      cpublas::gemm<scalar_t>(kPlain, kPlain, B, H, G, 1, grad_of_step, G, w, H, 0, gh, H);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(lstm_layer_stub, lstm_layer_kernel)
REGISTER_CPU_DISPATCH(lstm_layer_backward_stub, lstm_layer_backward_kernel)

} // namespace reftorch::at::native
