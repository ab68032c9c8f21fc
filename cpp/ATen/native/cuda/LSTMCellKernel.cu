// Mirrors: aten/src/ATen/native/cuda/RNN.cu (_thnn_fused_lstm_cell_cuda, _thnn_fused_lstm_cell_backward_impl_cuda)
//
// The fused LSTM cell: each number of state of each sequence has a thread.
#include <ATen/native/LSTMCell.h>
#include <ATen/native/LSTMCellFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// The rows of a matrix whose rows may lie apart.
template <typename T>
struct MatrixRows {
  T* data;
  int64_t distance;

  explicit MatrixRows(const Tensor& t) : data(t.data_ptr<T>()), distance(t.strides()[0]) {}
  __device__ T* at(int64_t row, int64_t column) const {
    return data + row * distance + column;
  }
};

// h, c, cx: (B, H), n = B H elements; w, x, r: (B, 4 H)
template <typename T>
__global__ void lstm_cell_kernel(MatrixRows<T> h, MatrixRows<T> c, MatrixRows<T> w, MatrixRows<T> x, MatrixRows<T> r,
                                 MatrixRows<T> cx, int64_t H, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t b = i / H, j = i % H;
    lstm_cell_element<T>(h.at(b, j), c.at(b, j), w.at(b, j), x.at(b, j), r.at(b, j), cx.at(b, j), H);
  }
}

template <typename T>
__global__ void lstm_cell_backward_kernel(MatrixRows<T> gates, MatrixRows<T> grad_cx, MatrixRows<T> gh,
                                          MatrixRows<T> gc, MatrixRows<T> cx, MatrixRows<T> cy, MatrixRows<T> w,
                                          int64_t H, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t b = i / H, j = i % H;
    lstm_cell_backward_element<T>(gates.at(b, j), grad_cx.at(b, j), gh.at(b, j), gc.at(b, j), cx.at(b, j), cy.at(b, j),
                                  w.at(b, j), H);
  }
}

void lstm_cell_kernel_cuda(const Tensor& hy, const Tensor& cy, const Tensor& workspace, const Tensor& input_gates,
                           const Tensor& hidden_gates, const Tensor& cx) {
  dispatch<FloatingTypes>(cx.scalar_type(), "_thnn_fused_lstm_cell_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using Rows = MatrixRows<scalar_t>;
    launch_elements(cx, cx.numel(), lstm_cell_kernel<scalar_t>, Rows(hy), Rows(cy), Rows(workspace), Rows(input_gates),
                    Rows(hidden_gates), Rows(cx), cx.sizes()[1], cx.numel());
  });
}

void lstm_cell_backward_kernel_cuda(const Tensor& grad_gates, const Tensor& grad_cx, const Tensor& grad_hy,
                                    const Tensor& grad_cy, const Tensor& cx, const Tensor& cy,
                                    const Tensor& workspace) {
  dispatch<FloatingTypes>(cx.scalar_type(), "_thnn_fused_lstm_cell_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using Rows = MatrixRows<scalar_t>;
    launch_elements(cx, cx.numel(), lstm_cell_backward_kernel<scalar_t>, Rows(grad_gates), Rows(grad_cx), Rows(grad_hy),
                    Rows(grad_cy), Rows(cx), Rows(cy), Rows(workspace), cx.sizes()[1], cx.numel());
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(lstm_cell_stub, lstm_cell_kernel_cuda)
REGISTER_CUDA_DISPATCH(lstm_cell_backward_stub, lstm_cell_backward_kernel_cuda)

} // namespace reftorch::at::native
