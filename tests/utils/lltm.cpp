// An extension as people write it for PyTorch: the cell of a recurrent layer with its gradient by hand, an elementwise
// op on pointers, a sum by accessors, and calls of many kinds. test_cpp_extension_words.py compiles it.
//
// Mirrors: nothing in PyTorch: the tutorial of its C++ extensions has a cell of this kind.
#include <torch/extension.h>

#include <vector>

#define CHECK_INPUT(x)                                        \
  TORCH_CHECK(x.device().is_cpu(), #x " must be on the CPU"); \
  TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

// --- a cell with three gates

torch::Tensor d_sigmoid(torch::Tensor z) {
  auto s = torch::sigmoid(z);
  return (1 - s) * s;
}

torch::Tensor d_tanh(torch::Tensor z) {
  return 1 - z.tanh().pow(2);
}

torch::Tensor d_elu(torch::Tensor z, torch::Scalar alpha = 1.0) {
  auto e = z.exp();
  auto negative = (alpha * (e - 1)) < 0;
  return (z > 0).type_as(z) + negative.type_as(z) * (alpha * e);
}

std::vector<at::Tensor> forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h,
                                torch::Tensor old_cell) {
  auto X = torch::cat({old_h, input}, /*dim=*/1);
  auto scores = torch::addmm(bias, X, weights.transpose(0, 1));
  auto gates = scores.chunk(3, /*dim=*/1);
  auto input_gate = torch::sigmoid(gates[0]);
  auto output_gate = torch::sigmoid(gates[1]);
  auto candidate = torch::elu(gates[2], /*alpha=*/1.0);
  auto new_cell = old_cell + candidate * input_gate;
  return {torch::tanh(new_cell) * output_gate, new_cell, input_gate, output_gate, candidate, X, scores};
}

std::vector<torch::Tensor> backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell,
                                    torch::Tensor input_gate, torch::Tensor output_gate, torch::Tensor candidate,
                                    torch::Tensor X, torch::Tensor scores, torch::Tensor weights) {
  auto d_output_gate = torch::tanh(new_cell) * grad_h;
  auto d_new_cell = d_tanh(new_cell) * (output_gate * grad_h) + grad_cell;
  auto d_candidate = input_gate * d_new_cell;
  auto d_input_gate = candidate * d_new_cell;
  auto gates = scores.chunk(3, /*dim=*/1);
  d_input_gate *= d_sigmoid(gates[0]);
  d_output_gate *= d_sigmoid(gates[1]);
  d_candidate *= d_elu(gates[2]);
  auto d_gates = torch::cat({d_input_gate, d_output_gate, d_candidate}, /*dim=*/1);
  auto d_X = d_gates.mm(weights);
  const auto state_size = grad_h.size(1);
  return {d_X.slice(/*dim=*/1, 0, state_size), d_X.slice(/*dim=*/1, state_size), d_gates.t().mm(X),
          d_gates.sum(/*dim=*/0, /*keepdim=*/true), d_new_cell};
}

// --- memory

at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
  CHECK_INPUT(a);
  at::Tensor result = torch::empty(a.sizes(), a.options());
  const float* x = a.const_data_ptr<float>();
  const float* y = b.data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); i++) {
    out[i] = x[i] * y[i] + c;
  }
  return result;
}

torch::Tensor sum_rows(torch::Tensor x) {
  auto out = torch::zeros({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_rows", ([&] {
                               auto in = x.accessor<scalar_t, 2>();
                               auto row = out.accessor<scalar_t, 1>();
                               for (int64_t i = 0; i < in.size(0); i++) {
                                 for (int64_t j = 0; j < in.size(1); j++) {
                                   row[i] += in[i][j];
                                 }
                               }
                             }));
  return out;
}

static int64_t freed = 0;
torch::Tensor blob(int64_t n) {
  auto* data = new float[n];
  for (int64_t i = 0; i < n; i++) {
    data[i] = static_cast<float>(i);
  }
  auto free = [](void* memory) {
    delete[] static_cast<float*>(memory);
    freed++;
  };
  return torch::from_blob(data, {n}, free, torch::kFloat32).view({2, -1});
}
int64_t number_of_freed_blobs() {
  return freed;
}

// --- calls of many kinds

std::vector<torch::Tensor> factories(torch::Tensor x) {
  auto options = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU).requires_grad(true);
  return {torch::zeros({2, 3}, options),
          torch::ones({2}, torch::kInt32),
          torch::full({2}, 3.5),
          torch::arange(5, torch::kFloat32),
          torch::eye(2),
          torch::empty_like(x).fill_(1),
          torch::linspace(0, 1, 3),
          torch::tensor({1, 2, 3}),
          torch::tensor(2.5),
          torch::tensor({true, false}),
          torch::tensor({1.5, 2.5}, torch::kDouble),
          x.new_zeros({2}),
          x.new_ones({2}, torch::TensorOptions(torch::kLong)),
          torch::zeros_like(x, torch::kDouble),
          at::zeros({2}, at::kLong),
          at::zeros({2}, x.options()),
          torch::ones({1}, torch::dtype(torch::kHalf))};
}

std::vector<torch::Tensor> calls(torch::Tensor x) {
  torch::Tensor y = x.clone();
  y.mul_(2).add_(1, 0.5);
  y += x;
  y -= 1;
  y /= 2;
  y *= y;
  auto [values, indexes] = y.max(1);
  auto [largest, places] = torch::topk(x, 1);
  return {x.sum(),
          x.sum(-1),
          x.sum({0, 1}),
          x.mean(0, true),
          x.view({-1}),
          x.reshape({3, 2}).t(),
          x.permute({1, 0}),
          y,
          values,
          indexes,
          largest,
          places,
          x[0],
          x[0][1],
          x.to(torch::kDouble),
          x.to(x.options().dtype(torch::kLong)),
          x.to(torch::kCPU),
          x.gt(0),
          x == x,
          ~(x > 0),
          -x,
          x % 2,
          2 / (x + 10),
          1 - x,
          x.unsqueeze(0).squeeze(),
          x.index_select(0, torch::tensor({1})),
          x.index({torch::tensor({1, 0})}),
          torch::where(x > 0, x, -x),
          x.where(x > 0, torch::zeros({1})),
          x.softmax(-1),
          x.matmul(x.t()),
          torch::relu(x),
          x.clamp(0),
          x.clamp(0, 1),
          x.norm(),
          x.std(0),
          x.any(),
          x.any(1),
          x.argmax(1),
          x.masked_fill(x > 0, 1.0),
          x.flatten(),
          x.repeat({1, 2}),
          x.expand({2, 2, 3}),
          x.narrow(1, 0, 2),
          x.contiguous(),
          torch::conv1d(x.unsqueeze(0), torch::ones({4, 2, 1}))};
}

std::vector<double> numbers(torch::Tensor x) {
  return {x[0][0].item<double>(),   x.sum().item().toDouble(), double(x.size(0)),   double(x.ndimension()),
          double(x.element_size()), double(x.nbytes()),        double(x.is_cuda()), double(x.get_device())};
}

torch::Tensor gradient_step(torch::Tensor x) {
  auto leaf = x.detach().clone().requires_grad_();
  auto loss = (leaf * leaf).sum();
  loss.backward();
  TORCH_CHECK(leaf.is_leaf() && !loss.is_leaf() && leaf.grad().defined());
  {
    torch::NoGradGuard no_grad;
    TORCH_CHECK(!(leaf * 2).requires_grad(), "an op was recorded under NoGradGuard");
    leaf -= 0.1 * leaf.grad();
  }
  TORCH_CHECK((leaf * 2).requires_grad(), "an op was not recorded after NoGradGuard");
  return leaf;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "the cell");
  m.def("backward", &backward, "its gradient");
  m.def("muladd", &muladd, py::arg("a"), py::arg("b"), py::arg("c") = 1.0);
  m.def("sum_rows", &sum_rows);
  m.def("blob", &blob);
  m.def("number_of_freed_blobs", &number_of_freed_blobs);
  m.def("factories", &factories);
  m.def("calls", &calls);
  m.def("numbers", &numbers);
  m.def("gradient_step", &gradient_step);
}
