// Mirrors: aten/src/ATen/native/PackedSequence.cpp
//
// Batches of sequences of different lengths: packed without padding, or padded to one length. Note [Packed sequences]
// in reftorch/nn/utils/rnn.py says how a packed batch lies in memory. Left out: sorting, which is Python, as in
// PyTorch.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

std::vector<int64_t> numbers_in(const Tensor& lengths) {
  TORCH_CHECK(lengths.dim() == 1 && lengths.device().is_cpu() && lengths.scalar_type() == kLong,
              "'lengths' argument should be a 1D CPU int64 tensor, but got ", lengths.dim(), "D ", lengths.device(),
              " ", toString(lengths.scalar_type()), " tensor");
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < lengths.numel(); i++) {
    numbers.push_back(at::select(lengths, 0, i).item().toLong());
  }
  return numbers;
}

Tensor as_int64_tensor(const std::vector<int64_t>& numbers) {
  std::vector<Tensor> parts;
  for (int64_t number : numbers) {
    parts.push_back(detail::wrapped_scalar_tensor(number));
  }
  return parts.empty() ? at::empty({0}, kLong) : at::stack(parts);
}

// input: (T, B, *), or (B, T, *) if batch_first; lengths: (B), longest first. Returns data, (sum of lengths, *), and
// batch_sizes, (longest).
std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths_tensor, bool batch_first) {
  TORCH_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  const Tensor steps = batch_first ? at::transpose(input, 0, 1) : input;
  const std::vector<int64_t> lengths = numbers_in(lengths_tensor);
  const int64_t batch = steps.size(1), count = static_cast<int64_t>(lengths.size());
  TORCH_CHECK(count == batch, "Expected `len(lengths)` to be equal to batch_size, but got ", count,
              " (batch_size=", batch, ")");
  TORCH_CHECK(std::is_sorted(lengths.rbegin(), lengths.rend()),
              "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
              "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
              "do not need ONNX exportability.");
  TORCH_CHECK(lengths.back() > 0,
              "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
  TORCH_CHECK(lengths[0] <= steps.size(0), "Expected the lengths to be at most the number of time steps, but got ",
              lengths[0], " (time steps=", steps.size(0), ")");
  DimVector row_shape(steps.sizes().begin() + 1, steps.sizes().end());
  row_shape[0] = -1;

  // The steps between two lengths have the same sequences, so they are one block of rows.
  std::vector<Tensor> blocks;
  std::vector<int64_t> batch_sizes;
  int64_t start = 0;
  for (int64_t sequences = batch; sequences > 0; sequences--) {
    const int64_t end = lengths[sequences - 1];
    if (end > start) {
      const Tensor block = at::slice(at::slice(steps, 0, start, end), 1, 0, sequences);
      blocks.push_back(at::view(at::contiguous(block), row_shape));
      batch_sizes.insert(batch_sizes.end(), end - start, sequences);
      start = end;
    }
  }
  return {at::cat(blocks), as_int64_tensor(batch_sizes)};
}

// grad: (sum of lengths, *). Returns the gradient of the input, 0 in the padding.
Tensor _pack_padded_sequence_backward(const Tensor& grad, IntArrayRef input_size, const Tensor& batch_sizes,
                                      bool batch_first) {
  TORCH_CHECK(input_size.size() >= 2, "_pack_padded_sequence_backward: expected input_size of at least 2 dimensions");
  DimVector size(input_size.begin(), input_size.end());
  if (batch_first) {
    std::swap(size[0], size[1]);
  }
  const Tensor grad_steps = at::new_zeros(grad, size); // batched under vmap if grad is
  int64_t offset = 0, t = 0;
  for (int64_t sequences : numbers_in(batch_sizes)) {
    Tensor step = at::slice(at::select(grad_steps, 0, t++), 0, 0, sequences);
    at::copy_(step, at::slice(grad, 0, offset, offset + sequences));
    offset += sequences;
  }
  return batch_first ? at::transpose(grad_steps, 0, 1) : grad_steps;
}

// data: (sum of batch_sizes, *). Returns the padded sequences, (T, B, *) or (B, T, *), and their lengths, (B).
std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes_tensor, bool batch_first,
                                                const Scalar& padding_value, int64_t total_length) {
  std::vector<int64_t> batch_sizes = numbers_in(batch_sizes_tensor);
  TORCH_CHECK(!batch_sizes.empty() && data.dim() > 0,
              "_pad_packed_sequence: expected data of at least one dimension, and batch_sizes of at least one step");
  const int64_t batch = batch_sizes[0], longest = static_cast<int64_t>(batch_sizes.size());
  int64_t total = longest;
  if (total_length > 0) {
    TORCH_CHECK(total_length >= longest,
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                "total_length=",
                total_length, " and max sequence length being ", longest);
    total = total_length;
  }
  DimVector shape{total, batch};
  shape.append(data.sizes().begin() + 1, data.sizes().end());
  const Tensor output = at::new_full(data, shape, padding_value); // batched under vmap if data is

  // The inverse of _pack_padded_sequence: one copy for each block of steps with the same sequences.
  std::vector<int64_t> lengths(batch);
  batch_sizes.push_back(0);
  int64_t offset = 0, start = 0, sequences = batch;
  for (int64_t t = 0; t <= longest; t++) {
    if (batch_sizes[t] == sequences) {
      continue;
    }
    TORCH_CHECK(batch_sizes[t] >= 0 && batch_sizes[t] < sequences,
                "_pad_packed_sequence: expected batch_sizes in decreasing order and none below 0, but got ",
                batch_sizes[t], " after ", sequences);
    const int64_t rows = sequences * (t - start);
    shape[0] = t - start;
    shape[1] = sequences;
    Tensor block = at::slice(at::slice(output, 0, start, t), 1, 0, sequences);
    at::copy_(block, at::view(at::slice(data, 0, offset, offset + rows), shape));
    std::fill(lengths.begin() + batch_sizes[t], lengths.begin() + sequences, t);
    offset += rows;
    start = t;
    sequences = batch_sizes[t];
  }
  return {batch_first ? at::transpose(output, 0, 1) : output, as_int64_tensor(lengths)};
}

// sequences: (T_i, *). Returns (T, B, *), or (B, T, *) if batch_first, where T is the length of the longest one.
Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, const std::string& padding_side) {
  TORCH_CHECK(!sequences.empty(), "received an empty list of sequences");
  TORCH_CHECK(padding_side == "left" || padding_side == "right",
              "Expected padding_side to be one of left or right, but got ", padding_side, ".");
  // Like PyTorch, a RuntimeError if it is the first sequence, and an IndexError of size(0) if it is a later one.
  TORCH_CHECK(sequences[0].dim() > 0,
              "pad_sequence: expected sequences of at least one dimension, but sequences[0] has none");
  const int64_t count = static_cast<int64_t>(sequences.size());
  int64_t longest = 0;
  for (const Tensor& sequence : sequences) {
    longest = std::max(longest, sequence.size(0));
  }
  DimVector shape{batch_first ? count : longest, batch_first ? longest : count};
  shape.append(sequences[0].sizes().begin() + 1, sequences[0].sizes().end());
  const Tensor out = at::new_full(sequences[0], shape, padding_value);
  for (int64_t i = 0; i < count; i++) {
    const int64_t length = sequences[i].size(0), start = padding_side == "left" ? longest - length : 0;
    Tensor place = batch_first ? at::narrow(at::select(out, 0, i), 0, start, length)
                               : at::select(at::narrow(out, 0, start, length), 1, i);
    at::copy_(place, sequences[i]);
  }
  return out;
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
        TORCH_FN(_pack_padded_sequence), FUNCTION);
  m.def_composite(
      "_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first) -> "
      "Tensor",
      TORCH_FN(_pack_padded_sequence_backward), variants::NN);
  m.def_composite(
      "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int "
      "total_length) -> (Tensor, Tensor)",
      TORCH_FN(_pad_packed_sequence), FUNCTION);
  m.def_composite(
      "pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str "
      "padding_side=\"right\") -> Tensor",
      TORCH_FN(pad_sequence), variants::NN);
}

} // namespace reftorch::at::native
