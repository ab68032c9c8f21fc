// Mirrors: aten/src/ATen/native/Dropout.cpp, aten/src/ATen/functorch/PyTorchOperatorHacks.cpp
//
// Sets elements, or whole channels, to zero with a probability, and scales the others. Left out: the fused kernels
// that native_dropout has on GPUs.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/functorch/DynamicLayer.h>

#include <cmath>

namespace reftorch::at::native {

namespace {

// The shape of the noise for whole channels: (N, C, 1, 1, ...).
DimVector channel_shape(const Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  DimVector sizes(input.dim(), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return sizes;
}

// Returns ones, and zeros with probability p: one number for each element, or for each channel.
Tensor draw_kept(const Tensor& input, double p, bool of_channels) {
  if (functorch::current_layer() != nullptr) { // vmap decides whether examples share the noise
    const Tensor like = of_channels ? at::new_empty(input, channel_shape(input))
                                    : at::empty(input.sizes(), input.scalar_type(), input.device());
    return at::bernoulli(like, 1 - p);
  }
  Tensor noise = of_channels ? at::new_empty(input, channel_shape(input)) : at::empty_like(input);
  return at::bernoulli_(noise, 1 - p);
}

template <bool in_place>
Tensor multiply(const Tensor& input, const Tensor& noise) {
  if constexpr (in_place) {
    Tensor self = input;
    return at::mul_(self, noise);
  } else {
    return at::mul(input, noise);
  }
}

template <bool of_channels, bool alpha, bool in_place>
Tensor dropped(const Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) {
    return input;
  }
  if (p == 1) {
    return multiply<in_place>(input, at::zeros({}, input.scalar_type(), input.device()));
  }
  Tensor noise = draw_kept(input, p, of_channels);
  if constexpr (!alpha) {
    return multiply<in_place>(input, at::div_(noise, 1 - p));
  } else {
    // A dropped element becomes -kSaturation, the limit of selu(x) as x falls; an affine map then restores mean 0 and
    // variance 1.
    constexpr double kSaturation = 1.7580993408473766;
    const double scale = 1 / std::sqrt((kSaturation * kSaturation * p + 1) * (1 - p));
    Tensor shift = at::add(noise, -1);
    shift = at::mul_(shift, kSaturation * scale);
    shift = at::add_(shift, kSaturation * scale * p);
    noise = at::mul_(noise, scale);
    Tensor result = multiply<in_place>(input, noise);
    return at::add_(result, shift);
  }
}

template <bool of_channels, bool alpha>
Tensor drop(const Tensor& input, double p, bool train) {
  return dropped<of_channels, alpha, /*in_place=*/false>(input, p, train);
}

template <bool of_channels, bool alpha>
Tensor& drop_(Tensor& self, double p, bool train) {
  dropped<of_channels, alpha, /*in_place=*/true>(self, p, train);
  return self;
}

// --- dropout with its mask -------------------------------------------------------------------------------------------

// Returns the result, and which elements were kept. Without training, every element is.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) {
    return {at::clone(input), at::empty_like(input)};
  }
  if (!train.value_or(true)) {
    return {at::clone(input), at::ones_like(input, kBool)};
  }
  Tensor mask = at::empty_like(input, kBool);
  mask = at::bernoulli_(mask, 1 - p);
  Tensor output = at::mul(input, mask);
  return {at::mul_(output, p == 1 ? 0. : 1 / (1 - p)), mask};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return at::mul(at::mul(grad_output, mask), scale);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  const Tags random = tags(Tag::nondeterministic_seeded);
  m.def_composite("dropout(Tensor input, float p, bool train) -> Tensor", TORCH_FN((drop<false, false>)), FUNCTION,
                  random);
  m.def_composite("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", TORCH_FN((drop_<false, false>)),
                  FUNCTION, random);
  m.def_composite("feature_dropout(Tensor input, float p, bool train) -> Tensor", TORCH_FN((drop<true, false>)),
                  FUNCTION, random);
  m.def_composite("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                  TORCH_FN((drop_<true, false>)), FUNCTION, random);
  m.def_composite("alpha_dropout(Tensor input, float p, bool train) -> Tensor", TORCH_FN((drop<false, true>)), FUNCTION,
                  random);
  m.def_composite("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", TORCH_FN((drop_<false, true>)),
                  FUNCTION, random);
  m.def_composite("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", TORCH_FN((drop<true, true>)),
                  FUNCTION, random);
  m.def_composite("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                  TORCH_FN((drop_<true, true>)), FUNCTION, random);
  m.def("native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", TORCH_FN(native_dropout), FUNCTION,
        random, out_form());
  m.def("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
        TORCH_FN(native_dropout_backward), variants::NN, tags(Tag::pointwise), out_form());
}

} // namespace reftorch::at::native
