// Mirrors: aten/src/ATen/native/ReflectionPad.cpp, aten/src/ATen/native/ReplicationPadding.cpp
//
// Borders that repeat elements of the tensor, in one, two and three dimensions, and their backward. PyTorch has a
// function for each mode and number of dimensions, and many of them word the same error in another way; the functions
// are templates here, and the words of each are kept. Left out: the out= forms of the backward (grad_input=), and
// complex numbers.
#include <ATen/native/Padding.h>

#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/OutByCopy.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(padding_stub)
DEFINE_DISPATCH(padding_backward_stub)

namespace {

constexpr PaddingMode kReflection = PaddingMode::Reflection, kReplication = PaddingMode::Replication;

// --- checks ----------------------------------------------------------------------------------------------------------

template <PaddingMode mode, int dims>
std::string op_name(const char* ending = "") {
  const char* const kind = mode == kReflection ? "reflection" : "replication";
  return std::string(kind) + "_pad" + std::to_string(dims) + "d" + ending;
}

template <int dims>
void check_valid_input(PaddingMode mode, const Tensor& input, IntArrayRef padding) {
  if (mode == kReflection) {
    TORCH_CHECK(padding.size() == 2 * dims, "padding size is expected to be ", 2 * dims, ", but got: ", padding.size());
  } else {
    TORCH_CHECK(padding.size() == 2 * dims, "padding size is expected to be ", 2 * dims);
  }
  const bool batched = input.dim() == dims + 2;
  bool fits = batched || input.dim() == dims + 1;
  for (int64_t d = batched ? 1 : 0; fits && d < input.dim(); d++) {
    fits = input.sizes()[d] != 0;
  }
  TORCH_CHECK(fits, "Expected ", dims + 1, "D or ", dims + 2,
              "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
              input.sizes());
}

// A mirror does not reach beyond the opposite element. The numbers of the arguments are those of a kernel that PyTorch
// once had in C.
template <int dims>
void check_mirror(const Tensor& input, IntArrayRef padding) {
  for (int64_t i = 0; i < dims; i++) {
    const int64_t dim = input.dim() - 1 - i, before = padding[2 * i], after = padding[2 * i + 1];
    TORCH_CHECK(before < input.size(dim) && after < input.size(dim), "Argument #", 2 * i + 4,
                ": Padding size should be less than the corresponding input dimension, but got: padding (", before,
                ", ", after, ") at dimension ", dim, " of input ", input.sizes());
  }
}

// Some sizes of the result may be 0, but not all of them.
template <PaddingMode mode>
void check_result(const PaddingShape& s, int dims) {
  const auto& [depth, height, width] = s.output;
  const auto& in = s.input;
  if (dims == 1) {
    TORCH_CHECK(width >= 1, "input (W: ", in[2], ") is too small. Calculated output W: ", width);
  } else if (dims == 2) {
    TORCH_CHECK(width >= 1 || height >= 1, "input (H: ", in[1], ", W: ", in[2], mode == kReflection ? ")" : " )",
                " is too small. Calculated output H: ", height, " W: ", width);
  } else {
    TORCH_CHECK(width >= 1 || height >= 1 || depth >= 1, "input (D: ", in[0], " H: ", in[1], ", W: ", in[2],
                ") is too small. Calculated output D: ", depth, " H: ", height, " W: ", width);
  }
}

template <PaddingMode mode, int dims>
void check_grad_output(const Tensor& grad_output, const Tensor& input, const PaddingShape& s) {
  static const char* const kNames[] = {"width", "height", "depth"};
  const char* const grad = mode == kReflection && dims != 2 ? "grad_output" : "gradOutput";
  const char* const comma = mode == kReplication && dims == 1 ? "" : ",";
  for (int64_t i = 0; i < dims; i++) {
    const int64_t expected = s.output[2 - i], given = grad_output.size(input.dim() - 1 - i);
    TORCH_CHECK(expected == given, grad, " ", kNames[i], " unexpected. Expected: ", expected, comma, " Got: ", given);
  }
  DimVector sizes(input.sizes());
  for (int64_t i = 0; i < dims; i++) {
    sizes[sizes.size() - 1 - i] = s.output[2 - i];
  }
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes), op_name<mode, dims>("_backward"),
              ": expected grad_output of shape ", IntArrayRef(sizes), ", but got ", grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == input.scalar_type(), "expected scalar type ", grad_output.scalar_type(),
              " but found ", input.scalar_type());
}

// --- the ops ---------------------------------------------------------------------------------------------------------

// Channels may lie last in memory in a batch of images or volumes.
template <int dims>
MemoryFormat format_of(const Tensor& t) {
  return dims > 1 && t.dim() == dims + 2 ? detail::suggest_memory_format(t) : MemoryFormat::Contiguous;
}

template <PaddingMode mode, int dims>
PaddingShape shape_of(const Tensor& input, IntArrayRef padding, const char* ending = "") {
  PaddingShape s;
  s.mode = mode;
  s.op = op_name<mode, dims>(ending);
  for (int64_t i = 0; i < dims; i++) {
    s.input[2 - i] = input.size(-1 - i);
    s.output[2 - i] = s.input[2 - i] + padding[2 * i] + padding[2 * i + 1];
    s.before[2 - i] = padding[2 * i];
  }
  const int64_t channels = input.size(-1 - dims), batch = input.dim() == dims + 2 ? input.size(0) : 1;
  const bool channels_last = format_of<dims>(input) != MemoryFormat::Contiguous;
  s.outer = channels_last ? batch : batch * channels;
  s.inner = channels_last ? channels : 1;
  return s;
}

template <int dims>
DimVector padded_sizes(const Tensor& input, const PaddingShape& s) {
  DimVector sizes(input.sizes());
  for (int64_t i = 0; i < dims; i++) {
    sizes[sizes.size() - 1 - i] = s.output[2 - i];
  }
  return sizes;
}

// self (N, C, *) or (C, *), with as many pixels after C as there are dimensions; padding holds two numbers for each
// dimension, the last dimension first.
template <PaddingMode mode, int dims>
Tensor padded(const Tensor& self, IntArrayRef padding) {
  check_valid_input<dims>(mode, self, padding);
  const PaddingShape s = shape_of<mode, dims>(self, padding);
  if (mode == kReflection) {
    check_mirror<dims>(self, padding);
  }
  check_result<mode>(s, dims);
  const MemoryFormat format = format_of<dims>(self);
  const Tensor output =
      empty_impl(padded_sizes<dims>(self, s), self.scalar_type(), self.device(), /*pin_memory=*/std::nullopt, format);
  padding_stub(self.device().type(), output, self.contiguous(format), s);
  return output;
}

template <PaddingMode mode, int dims>
Tensor padded_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef padding) {
  TORCH_CHECK(padding.size() == 2 * dims, "padding size is expected to be ", 2 * dims);
  check_valid_input<dims>(mode, self, padding);
  const PaddingShape s = shape_of<mode, dims>(self, padding, "_backward");
  if (mode == kReflection) {
    check_mirror<dims>(self, padding);
  }
  check_grad_output<mode, dims>(grad_output, self, s);
  const MemoryFormat format = format_of<dims>(self);
  const Tensor grad_input =
      empty_impl(self.sizes(), self.scalar_type(), self.device(), /*pin_memory=*/std::nullopt, format);
  padding_backward_stub(self.device().type(), grad_input, grad_output.contiguous(format), s);
  return grad_input;
}

template <PaddingMode mode, int dims>
void define_padding(Library& m, const LocatedText& schema, const LocatedText& backward) {
  def_with_out_by_copy(m, schema, TORCH_FN((padded<mode, dims>)), kernels(padding_stub), variants::NN);
  m.def(backward, TORCH_FN((padded_backward<mode, dims>)), kernels(padding_backward_stub), variants::NN,
        out_form("grad_input"));
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  define_padding<kReflection, 1>(
      m, "reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
      "reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor");
  define_padding<kReflection, 2>(
      m, "reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
      "reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor");
  define_padding<kReflection, 3>(
      m, "reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
      "reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor");
  define_padding<kReplication, 1>(
      m, "replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
      "replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor");
  define_padding<kReplication, 2>(
      m, "replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
      "replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor");
  define_padding<kReplication, 3>(
      m, "replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
      "replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor");
}

} // namespace reftorch::at::native
