// Mirrors: aten/src/ATen/native/cuda/RNN.cu (_thnn_fused_lstm_cell_cuda, _thnn_fused_lstm_cell_backward_impl_cuda)
//
// The arithmetic is in LSTMRows.h; this file chooses the dtype and splits the sequences of the batch among threads.
#include <ATen/native/LSTMCell.h>
#include <ATen/native/cpu/LSTMRows.h>

namespace reftorch::at::native {
namespace {

// The rows of a matrix whose rows may lie apart.
template <typename T>
struct Rows {
  T* data;
  int64_t distance;

  explicit Rows(const Tensor& t) : data(t.data_ptr<T>()), distance(t.strides()[0]) {}
  T* operator[](int64_t row) const {
    return data + row * distance;
  }
};

void lstm_cell_kernel(const Tensor& hy, const Tensor& cy, const Tensor& workspace, const Tensor& input_gates,
                      const Tensor& hidden_gates, const Tensor& cx) {
  dispatch<FloatingTypes>(cx.scalar_type(), "_thnn_fused_lstm_cell_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Rows<scalar_t> h(hy), c(cy), w(workspace), x(input_gates), r(hidden_gates), last(cx);
    const int64_t B = cx.sizes()[0], H = cx.sizes()[1];
    for_each_sequence(B, H, [&](int64_t b) { lstm_cell_row(h[b], c[b], w[b], x[b], r[b], last[b], H); });
  });
}

void lstm_cell_backward_kernel(const Tensor& grad_gates, const Tensor& grad_cx, const Tensor& grad_hy,
                               const Tensor& grad_cy, const Tensor& cx, const Tensor& cy, const Tensor& workspace) {
  dispatch<FloatingTypes>(cx.scalar_type(), "_thnn_fused_lstm_cell_backward_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Rows<scalar_t> gates(grad_gates), last(grad_cx), gh(grad_hy), gc(grad_cy), x(cx), y(cy), w(workspace);
    const int64_t B = cx.sizes()[0], H = cx.sizes()[1];
    for_each_sequence(B, H,
                      [&](int64_t b) { lstm_cell_backward_row(gates[b], last[b], gh[b], gc[b], x[b], y[b], w[b], H); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(lstm_cell_stub, lstm_cell_kernel)
REGISTER_CPU_DISPATCH(lstm_cell_backward_stub, lstm_cell_backward_kernel)

} // namespace reftorch::at::native
