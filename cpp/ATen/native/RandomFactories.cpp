// Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint, randperm)
//
// Fresh tensors of random numbers: an empty tensor, which an in-place op of Distributions.cpp fills. PyTorch has one
// overload with and one without a generator; here the generator is optional.
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/Distributions.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace reftorch::at::native {

// Calls the in-place op below autograd, so that filling a fresh tensor does not count as a change in place and the
// version stays 0.
struct FreshTensorGuard {
  c10::impl::ExcludeDispatchKeyGuard below_autograd{c10::autograd_dispatch_keyset};
};

static Tensor& rand_out(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                        OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  resize_output(out, size);
  return at::uniform_(out, 0, 1, generator);
}

static Tensor rand(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout layout,
                   OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = empty_impl(size, dtype, device, pin_memory);
  const FreshTensorGuard guard;
  return rand_out(size, generator, dtype, layout, device, pin_memory, result);
}

static Tensor& randn_out(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                         OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  resize_output(out, size);
  return at::normal_(out, 0, 1, generator);
}

static Tensor randn(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout layout,
                    OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = empty_impl(size, dtype, device, pin_memory);
  const FreshTensorGuard guard;
  return randn_out(size, generator, dtype, layout, device, pin_memory, result);
}

static Tensor& randint_low_out(int64_t low, int64_t high, IntArrayRef size, const OptionalGenerator& generator,
                               OptionalType dtype, OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  resize_output(out, size);
  return at::random_(out, low, high, generator);
}

static Tensor& randint_out(int64_t high, IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype,
                           OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory, Tensor& out) {
  return randint_low_out(0, high, size, generator, dtype, layout, device, pin_memory, out);
}

static Tensor randint_low(int64_t low, int64_t high, IntArrayRef size, const OptionalGenerator& generator,
                          OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = empty_impl(size, dtype.value_or(kLong), device, pin_memory);
  const FreshTensorGuard guard;
  return randint_low_out(low, high, size, generator, dtype, layout, device, pin_memory, result);
}

static Tensor randint(int64_t high, IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype,
                      OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randint_low(0, high, size, generator, dtype, layout, device, pin_memory);
}

// Raises unless the dtype of the result has a distinct value for every number below n.
static void check_fits(int64_t n, ScalarType dtype) {
  Tensor probe = detail::empty_generic({}, dtype);
  fill_impl(probe, n);                                    // raises RuntimeError if an integer type is too small
  if (c10::isFloatingType(dtype) && dtype != kBFloat16) { // values of bfloat16 repeat past 256, in PyTorch too
    const int digits = dtype == kHalf ? 11 : dtype == kFloat ? 24 : 53;
    const int64_t largest = (int64_t(1) << digits) + 1;
    TORCH_CHECK(n <= largest, "n cannot be greater than ",
                digits < 12 ? std::to_string(largest) : c10::str("2^", digits, "+1"), " for ", dtype, " type.");
  }
}

static Tensor& randperm_out(int64_t n, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                            OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  check_fits(n, out.scalar_type());
  resize_output(out, n);
  if (out.is_contiguous()) {
    randperm_stub(out.device().type(), out, n, generator);
    return out;
  }
  Tensor dense = detail::empty_generic(n, out.scalar_type(), out.device());
  randperm_stub(out.device().type(), dense, n, generator);
  return at::copy_(out, dense);
}

static Tensor randperm(int64_t n, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = empty_impl(n, dtype.value_or(kLong), device, pin_memory);
  return randperm_out(n, generator, dtype, layout, device, pin_memory, result);
}

static Tensor rand_like(const Tensor& self, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  Tensor result = empty_like_impl(self, dtype, device, pin_memory, format);
  return at::uniform_(result, 0, 1, generator);
}

static Tensor randn_like(const Tensor& self, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                         OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  Tensor result = empty_like_impl(self, dtype, device, pin_memory, format);
  return at::normal_(result, 0, 1, generator);
}

static Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, const OptionalGenerator& generator,
                               OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool pin_memory,
                               OptionalFormat format) {
  Tensor result = empty_like_impl(self, dtype, device, pin_memory, format);
  return at::random_(result, low, high, generator);
}

static Tensor randint_like(const Tensor& self, int64_t high, const OptionalGenerator& generator, OptionalType dtype,
                           OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory,
                           OptionalFormat format) {
  return randint_like_low(self, 0, high, generator, dtype, layout, device, pin_memory, format);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("rand(int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(rand),
        tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randn(int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randn),
        tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randint(SymInt high, int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randint),
        tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randint.low(SymInt low, SymInt high, int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor",
        TORCH_FN(randint_low), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randperm(SymInt n, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randperm),
        kernels(fill_stub, zero_stub, randperm_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def_out("rand", TORCH_FN(rand_out), tags(Tag::nondeterministic_seeded));
  m.def_out("randn", TORCH_FN(randn_out), tags(Tag::nondeterministic_seeded));
  m.def_out("randint", TORCH_FN(randint_out), tags(Tag::nondeterministic_seeded));
  m.def_out("randint.low", TORCH_FN(randint_low_out), tags(Tag::nondeterministic_seeded));
  m.def_out("randperm", TORCH_FN(randperm_out), kernels(fill_stub, zero_stub, randperm_stub),
            tags(Tag::nondeterministic_seeded));
  m.def("rand_like(Tensor self, *, Generator? generator=None, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(rand_like), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randn_like(Tensor self, *, Generator? generator=None, " OPTIONS
        ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randn_like), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randint_like(Tensor self, SymInt high, *, Generator? generator=None, " OPTIONS
        ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randint_like), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def("randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator=None, " OPTIONS
        ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randint_like_low), tags(Tag::nondeterministic_seeded), FUNCTION);
}

} // namespace reftorch::at::native
