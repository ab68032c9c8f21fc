// Mirrors: aten/src/ATen/native/UnaryOps.cpp (special_airy_ai, special_bessel_j0, ...)
//
// Bessel functions and Airy functions, under the names they have in torch.special. None has a derivative, as in
// PyTorch.
#include <ATen/native/BesselOps.h>

#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(special_airy_ai_stub)
DEFINE_DISPATCH(special_bessel_j0_stub)
DEFINE_DISPATCH(special_bessel_j1_stub)
DEFINE_DISPATCH(special_bessel_y0_stub)
DEFINE_DISPATCH(special_bessel_y1_stub)
DEFINE_DISPATCH(special_modified_bessel_i0_stub)
DEFINE_DISPATCH(special_modified_bessel_i1_stub)
DEFINE_DISPATCH(special_modified_bessel_k0_stub)
DEFINE_DISPATCH(special_modified_bessel_k1_stub)
DEFINE_DISPATCH(special_scaled_modified_bessel_k0_stub)
DEFINE_DISPATCH(special_scaled_modified_bessel_k1_stub)
DEFINE_DISPATCH(special_spherical_bessel_j0_stub)

template <auto& stub>
static void bessel_op_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

template <auto& stub>
static void define(Library& m, const std::string& name, const std::string& argument = "self") {
  m.def_structured("special_" + name + "(Tensor " + argument + ") -> Tensor", TORCH_FN(bessel_op_out<stub>),
                   kernels(stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  define<special_airy_ai_stub>(m, "airy_ai", "x");
  define<special_bessel_j0_stub>(m, "bessel_j0");
  define<special_bessel_j1_stub>(m, "bessel_j1");
  define<special_bessel_y0_stub>(m, "bessel_y0");
  define<special_bessel_y1_stub>(m, "bessel_y1");
  define<special_modified_bessel_i0_stub>(m, "modified_bessel_i0");
  define<special_modified_bessel_i1_stub>(m, "modified_bessel_i1");
  define<special_modified_bessel_k0_stub>(m, "modified_bessel_k0");
  define<special_modified_bessel_k1_stub>(m, "modified_bessel_k1");
  define<special_scaled_modified_bessel_k0_stub>(m, "scaled_modified_bessel_k0", "x");
  define<special_scaled_modified_bessel_k1_stub>(m, "scaled_modified_bessel_k1", "x");
  define<special_spherical_bessel_j0_stub>(m, "spherical_bessel_j0", "x");
}

} // namespace reftorch::at::native
