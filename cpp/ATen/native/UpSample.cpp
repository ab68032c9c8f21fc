// Mirrors: aten/src/ATen/native/UpSample.cpp, aten/src/ATen/native/UpSampleNearest1d.cpp, and their relatives
//
// Changes the size of images by interpolation. PyTorch has a file for each mode and number of dimensions; here one
// function checks and calls for all, because the modes differ in nothing but the weights of the pixels, which the
// kernel computes.
#include <ATen/native/UpSample.h>

#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/OutByCopy.h>
#include <ATen/native/TensorFactories.h>

#include <limits>
#include <sstream>

namespace reftorch::at::native {

DEFINE_DISPATCH(upsample_stub)
DEFINE_DISPATCH(upsample_backward_stub)

namespace {

using Mode = UpSampleMode;
using Scale = std::optional<double>;

// --- checks and shapes -----------------------------------------------------------------------------------------------

// Writes "(D: 2, H: 3, W: 4)" for the last sizes.
std::string named_sizes(IntArrayRef sizes) {
  static const char* const kNames[] = {"D", "H", "W"};
  std::ostringstream text;
  for (size_t i = 0; i < sizes.size(); i++) {
    text << (i == 0 ? "(" : ", ") << kNames[3 - sizes.size() + i] << ": " << sizes[i];
  }
  return text.str() + ")";
}

bool all_positive(IntArrayRef sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0; });
}

// Returns the sizes of the output, (N, C, *output_size), for an input of the sizes (N, C, *).
DimVector resized_sizes(IntArrayRef input, IntArrayRef output_size, size_t dims) {
  TORCH_CHECK(output_size.size() == dims, "It is expected output_size equals to ", dims, ", but got size ",
              output_size.size());
  TORCH_CHECK(input.size() == dims + 2, "It is expected input_size equals to ", dims + 2, ", but got size ",
              input.size());
  const IntArrayRef pixels = input.slice(2, dims);
  TORCH_CHECK(all_positive(pixels) && all_positive(output_size),
              "Input and output sizes should be greater than 0, but got input ", named_sizes(pixels),
              dims == 1 ? " and output " : " output ", named_sizes(output_size));
  DimVector sizes{input[0], input[1]};
  for (int64_t size : output_size) {
    sizes.push_back(size);
  }
  return sizes;
}

bool is_16_bits(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16;
}

// Nearest neighbours are copied, and every other mode computes 16-bit floats as floats.
ScalarType dtype_of_mode(ScalarType dtype, Mode mode) {
  return is_16_bits(dtype) && mode != Mode::Nearest && mode != Mode::NearestExact ? kFloat : dtype;
}

Tensor converted(const Tensor& t, ScalarType dtype) {
  return t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

// --- forward and backward of all modes -------------------------------------------------------------------------------

// self: (N, C, *); the result: (N, C, *output_size)
Tensor upsample(const Tensor& self, IntArrayRef output_size, bool align_corners, Mode mode, std::vector<Scale> scales) {
  const DimVector sizes = resized_sizes(self.sizes(), output_size, scales.size());
  TORCH_CHECK(self.numel() != 0 || all_positive(self.sizes().slice(1, self.sizes().size() - 1)), "Non-empty ",
              self.dim(), "D data tensor expected but got a tensor with sizes ", self.sizes());
  const ScalarType dtype = dtype_of_mode(self.scalar_type(), mode);
  const Tensor output = detail::empty_generic(sizes, dtype, self.device());
  upsample_stub(self.device().type(), output, converted(self, dtype).contiguous(),
                UpSampleOptions{mode, align_corners, std::move(scales)});
  return converted(output, self.scalar_type()).contiguous(detail::suggest_memory_format(self));
}

// The adjoint: each pixel of the output gives its gradient to the pixels of the input, by the same weights.
Tensor upsample_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
                         Mode mode, std::vector<Scale> scales) {
  const DimVector sizes = resized_sizes(input_size, output_size, scales.size());
  TORCH_CHECK(grad_output.dim() == static_cast<int64_t>(sizes.size()), "Expected grad_output to be a tensor of ",
              "dimension ", sizes.size(), " but got: dimension ", grad_output.dim());
  for (size_t i = 0; i < sizes.size(); i++) {
    TORCH_CHECK(grad_output.sizes()[i] == sizes[i],
                "Expected grad_output to have the same shape as output; output.size(", i, ") = ", sizes[i],
                " but got grad_output.size(", i, ") = ", grad_output.sizes()[i]);
  }
  const ScalarType dtype = grad_output.scalar_type();
  const ScalarType computing = is_16_bits(dtype) ? kFloat : dtype; // nearest neighbours are summed here
  const Tensor grad_input = detail::empty_generic(input_size, computing, grad_output.device());
  upsample_backward_stub(grad_output.device().type(), grad_input, converted(grad_output, computing).contiguous(),
                         UpSampleOptions{mode, align_corners, std::move(scales)});
  return converted(grad_input, dtype).contiguous(detail::suggest_memory_format(grad_output));
}

// The signatures of the ops: with one, two or three scales; nearest neighbours have no corners to align.
template <Mode mode>
Tensor nearest1d(const Tensor& self, IntArrayRef size, Scale w) {
  return upsample(self, size, /*align_corners=*/false, mode, {w});
}
template <Mode mode>
Tensor nearest2d(const Tensor& self, IntArrayRef size, Scale h, Scale w) {
  return upsample(self, size, /*align_corners=*/false, mode, {h, w});
}
template <Mode mode>
Tensor nearest3d(const Tensor& self, IntArrayRef size, Scale d, Scale h, Scale w) {
  return upsample(self, size, /*align_corners=*/false, mode, {d, h, w});
}
Tensor linear1d(const Tensor& self, IntArrayRef size, bool align_corners, Scale w) {
  return upsample(self, size, align_corners, Mode::Linear, {w});
}
template <Mode mode>
Tensor smooth2d(const Tensor& self, IntArrayRef size, bool align_corners, Scale h, Scale w) {
  return upsample(self, size, align_corners, mode, {h, w});
}
Tensor trilinear3d(const Tensor& self, IntArrayRef size, bool align_corners, Scale d, Scale h, Scale w) {
  return upsample(self, size, align_corners, Mode::Linear, {d, h, w});
}

template <Mode mode>
Tensor nearest1d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, Scale w) {
  return upsample_backward(grad, size, input_size, /*align_corners=*/false, mode, {w});
}
template <Mode mode>
Tensor nearest2d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, Scale h, Scale w) {
  return upsample_backward(grad, size, input_size, /*align_corners=*/false, mode, {h, w});
}
template <Mode mode>
Tensor nearest3d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, Scale d, Scale h, Scale w) {
  return upsample_backward(grad, size, input_size, /*align_corners=*/false, mode, {d, h, w});
}
Tensor linear1d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, bool align_corners, Scale w) {
  return upsample_backward(grad, size, input_size, align_corners, Mode::Linear, {w});
}
template <Mode mode>
Tensor smooth2d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, bool align_corners, Scale h,
                         Scale w) {
  return upsample_backward(grad, size, input_size, align_corners, mode, {h, w});
}
Tensor trilinear3d_backward(const Tensor& grad, IntArrayRef size, IntArrayRef input_size, bool align_corners, Scale d,
                            Scale h, Scale w) {
  return upsample_backward(grad, size, input_size, align_corners, Mode::Linear, {d, h, w});
}

// --- the forms that nn.functional calls, with sizes or factors -------------------------------------------------------

using OptionalSizes = std::optional<IntArrayRef>;
using OptionalFactors = std::optional<std::vector<double>>;

DimVector size_from(const Tensor& input, const OptionalSizes& output_size, const OptionalFactors& factors,
                    size_t dims) {
  TORCH_CHECK(output_size.has_value() != factors.has_value(),
              "Must specify exactly one of output_size and scale_factors");
  TORCH_CHECK(input.dim() == static_cast<int64_t>(dims) + 2, "It is expected input_size equals to ", dims + 2,
              ", but got size ", input.dim());
  if (output_size.has_value()) {
    TORCH_CHECK(output_size->size() == dims, "It is expected output_size equals to ", dims, ", but got size ",
                output_size->size());
    return DimVector(*output_size);
  }
  TORCH_CHECK(factors->size() == dims, "It is expected scale_factors equals to ", dims, ", but got size ",
              factors->size());
  DimVector sizes;
  for (size_t i = 0; i < dims; i++) {
    const double size = static_cast<double>(input.sizes()[i + 2]) * (*factors)[i];
    TORCH_CHECK(size > -1e15 && size < 1e15, "The output of size ", size, " that scale_factors ask for is too large");
    sizes.push_back(static_cast<int64_t>(size));
  }
  return sizes;
}

Scale factor_of(const OptionalFactors& factors, size_t i) {
  return factors.has_value() ? Scale((*factors)[i]) : std::nullopt;
}

template <Tensor (*op)(const Tensor&, IntArrayRef, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, OptionalFactors f) {
  return op(input, size_from(input, size, f, 1), factor_of(f, 0));
}
template <Tensor (*op)(const Tensor&, IntArrayRef, Scale, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, OptionalFactors f) {
  return op(input, size_from(input, size, f, 2), factor_of(f, 0), factor_of(f, 1));
}
template <Tensor (*op)(const Tensor&, IntArrayRef, Scale, Scale, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, OptionalFactors f) {
  return op(input, size_from(input, size, f, 3), factor_of(f, 0), factor_of(f, 1), factor_of(f, 2));
}
template <Tensor (*op)(const Tensor&, IntArrayRef, bool, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, bool align_corners, OptionalFactors f) {
  return op(input, size_from(input, size, f, 1), align_corners, factor_of(f, 0));
}
template <Tensor (*op)(const Tensor&, IntArrayRef, bool, Scale, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, bool align_corners, OptionalFactors f) {
  return op(input, size_from(input, size, f, 2), align_corners, factor_of(f, 0), factor_of(f, 1));
}
template <Tensor (*op)(const Tensor&, IntArrayRef, bool, Scale, Scale, Scale)>
Tensor vec(const Tensor& input, OptionalSizes size, bool align_corners, OptionalFactors f) {
  return op(input, size_from(input, size, f, 3), align_corners, factor_of(f, 0), factor_of(f, 1), factor_of(f, 2));
}

// --- registrations ---------------------------------------------------------------------------------------------------

#define SCALES1 "float? scales=None"
#define SCALES2 "float? scales_h=None, float? scales_w=None"
#define SCALES3 "float? scales_d=None, float? scales_h=None, float? scales_w=None"
#define VEC "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
#define VEC_ALIGNED "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
#define BACKWARD1 "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, "
#define BACKWARD2 "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, "
#define BACKWARD3 "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, "

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int NN = variants::NN;
  constexpr auto forward = [] { return kernels(upsample_stub); };
  constexpr auto backward = [] { return kernels(upsample_backward_stub); };

  def_with_out_by_copy(m, "upsample_nearest1d(Tensor self, SymInt[1] output_size, " SCALES1 ") -> Tensor",
                       TORCH_FN(nearest1d<Mode::Nearest>), forward(), NN);
  def_with_out_by_copy(m, "upsample_nearest2d(Tensor self, SymInt[2] output_size, " SCALES2 ") -> Tensor",
                       TORCH_FN(nearest2d<Mode::Nearest>), forward(), NN);
  def_with_out_by_copy(m, "upsample_nearest3d(Tensor self, SymInt[3] output_size, " SCALES3 ") -> Tensor",
                       TORCH_FN(nearest3d<Mode::Nearest>), forward(), NN);
  def_with_out_by_copy(m, "_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, " SCALES1 ") -> Tensor",
                       TORCH_FN(nearest1d<Mode::NearestExact>), forward(), NN);
  def_with_out_by_copy(m, "_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, " SCALES2 ") -> Tensor",
                       TORCH_FN(nearest2d<Mode::NearestExact>), forward(), NN);
  def_with_out_by_copy(m, "_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, " SCALES3 ") -> Tensor",
                       TORCH_FN(nearest3d<Mode::NearestExact>), forward(), NN);
  def_with_out_by_copy(
      m, "upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, " SCALES1 ") -> Tensor",
      TORCH_FN(linear1d), forward(), NN);
  def_with_out_by_copy(
      m, "upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, " SCALES2 ") -> Tensor",
      TORCH_FN(smooth2d<Mode::Linear>), forward(), NN);
  def_with_out_by_copy(
      m, "upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, " SCALES3 ") -> Tensor",
      TORCH_FN(trilinear3d), forward(), NN);
  def_with_out_by_copy(
      m, "upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, " SCALES2 ") -> Tensor",
      TORCH_FN(smooth2d<Mode::Cubic>), forward(), NN);
  def_with_out_by_copy(
      m, "_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, " SCALES2 ") -> Tensor",
      TORCH_FN(smooth2d<Mode::LinearAA>), forward(), NN);
  def_with_out_by_copy(
      m, "_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, " SCALES2 ") -> Tensor",
      TORCH_FN(smooth2d<Mode::CubicAA>), forward(), NN);
  def_with_out_by_copy(
      m, "_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, " SCALES2 ") -> Tensor",
      TORCH_FN(smooth2d<Mode::LanczosAA>), forward(), NN);

  m.def("upsample_nearest1d_backward" BACKWARD1 SCALES1 ") -> Tensor", TORCH_FN(nearest1d_backward<Mode::Nearest>),
        backward(), NN, out_form("grad_input"));
  m.def("upsample_nearest2d_backward" BACKWARD2 SCALES2 ") -> Tensor", TORCH_FN(nearest2d_backward<Mode::Nearest>),
        backward(), NN, out_form("grad_input"));
  m.def("upsample_nearest3d_backward" BACKWARD3 SCALES3 ") -> Tensor", TORCH_FN(nearest3d_backward<Mode::Nearest>),
        backward(), NN, out_form("grad_input"));
  m.def("_upsample_nearest_exact1d_backward" BACKWARD1 SCALES1 ") -> Tensor",
        TORCH_FN(nearest1d_backward<Mode::NearestExact>), backward(), NN, out_form("grad_input"));
  m.def("_upsample_nearest_exact2d_backward" BACKWARD2 SCALES2 ") -> Tensor",
        TORCH_FN(nearest2d_backward<Mode::NearestExact>), backward(), NN, out_form("grad_input"));
  m.def("_upsample_nearest_exact3d_backward" BACKWARD3 SCALES3 ") -> Tensor",
        TORCH_FN(nearest3d_backward<Mode::NearestExact>), backward(), NN, out_form("grad_input"));
  m.def("upsample_linear1d_backward" BACKWARD1 "bool align_corners, " SCALES1 ") -> Tensor",
        TORCH_FN(linear1d_backward), backward(), NN, out_form("grad_input"));
  m.def("upsample_bilinear2d_backward" BACKWARD2 "bool align_corners, " SCALES2 ") -> Tensor",
        TORCH_FN(smooth2d_backward<Mode::Linear>), backward(), NN, out_form("grad_input"));
  m.def("upsample_trilinear3d_backward" BACKWARD3 "bool align_corners, " SCALES3 ") -> Tensor",
        TORCH_FN(trilinear3d_backward), backward(), NN, out_form("grad_input"));
  m.def("upsample_bicubic2d_backward" BACKWARD2 "bool align_corners, " SCALES2 ") -> Tensor",
        TORCH_FN(smooth2d_backward<Mode::Cubic>), backward(), NN, out_form("grad_input"));
  m.def("_upsample_bilinear2d_aa_backward" BACKWARD2 "bool align_corners, " SCALES2 ") -> Tensor",
        TORCH_FN(smooth2d_backward<Mode::LinearAA>), backward(), NN, out_form("grad_input"));
  m.def("_upsample_bicubic2d_aa_backward" BACKWARD2 "bool align_corners, " SCALES2 ") -> Tensor",
        TORCH_FN(smooth2d_backward<Mode::CubicAA>), backward(), NN, out_form("grad_input"));
  m.def("_upsample_lanczos2d_aa_backward" BACKWARD2 "bool align_corners, " SCALES2 ") -> Tensor",
        TORCH_FN(smooth2d_backward<Mode::LanczosAA>), backward(), NN, out_form("grad_input"));

  m.def_composite("upsample_nearest1d.vec" VEC, TORCH_FN(vec<at::upsample_nearest1d>), NN);
  m.def_composite("upsample_nearest2d.vec" VEC, TORCH_FN(vec<at::upsample_nearest2d>), NN);
  m.def_composite("upsample_nearest3d.vec" VEC, TORCH_FN(vec<at::upsample_nearest3d>), NN);
  m.def_composite("_upsample_nearest_exact1d.vec" VEC, TORCH_FN(vec<at::_upsample_nearest_exact1d>), NN);
  m.def_composite("_upsample_nearest_exact2d.vec" VEC, TORCH_FN(vec<at::_upsample_nearest_exact2d>), NN);
  m.def_composite("_upsample_nearest_exact3d.vec" VEC, TORCH_FN(vec<at::_upsample_nearest_exact3d>), NN);
  m.def_composite("upsample_linear1d.vec" VEC_ALIGNED, TORCH_FN(vec<at::upsample_linear1d>), NN);
  m.def_composite("upsample_bilinear2d.vec" VEC_ALIGNED, TORCH_FN(vec<at::upsample_bilinear2d>), NN);
  m.def_composite("upsample_trilinear3d.vec" VEC_ALIGNED, TORCH_FN(vec<at::upsample_trilinear3d>), NN);
  m.def_composite("upsample_bicubic2d.vec" VEC_ALIGNED, TORCH_FN(vec<at::upsample_bicubic2d>), NN);
  m.def_composite("_upsample_bilinear2d_aa.vec" VEC_ALIGNED, TORCH_FN(vec<at::_upsample_bilinear2d_aa>), NN);
  m.def_composite("_upsample_bicubic2d_aa.vec" VEC_ALIGNED, TORCH_FN(vec<at::_upsample_bicubic2d_aa>), NN);
  m.def_composite("_upsample_lanczos2d_aa.vec" VEC_ALIGNED, TORCH_FN(vec<at::_upsample_lanczos2d_aa>), NN);
}

} // namespace reftorch::at::native
