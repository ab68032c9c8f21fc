// Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint, randperm)
// Fresh tensors of random numbers: empty, then an in-place op of Distributions.cpp. PyTorch has one overload with and
// one without a generator; here the generator is optional.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Distributions.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

using OptionalGenerator = std::optional<Generator>;

static Tensor rand(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                   OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  Tensor result = empty_cpu(size, dtype, device);
  return at::uniform_(result, 0, 1, generator);
}

static Tensor randn(IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                    OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  Tensor result = empty_cpu(size, dtype, device);
  return at::normal_(result, 0, 1, generator);
}

static Tensor randint_low(int64_t low, int64_t high, IntArrayRef size, const OptionalGenerator& generator,
                          OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  Tensor result = empty_cpu(size, dtype.value_or(kLong), device);
  return at::random_(result, low, high, generator);
}

static Tensor randint(int64_t high, IntArrayRef size, const OptionalGenerator& generator, OptionalType dtype,
                      OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randint_low(0, high, size, generator, dtype, layout, device, pin_memory);
}

static Tensor randperm(int64_t n, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                       OptionalDevice device, OptionalBool pin_memory) {
  check_not_pinned(pin_memory);
  Tensor result = empty_cpu(n, dtype.value_or(kLong), device);
  randperm_stub(result.device().type(), result, n, get_generator_or_default(generator));
  return result;
}

static Tensor rand_like(const Tensor& self, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  check_not_pinned(pin_memory);
  Tensor result = empty_like_impl(self, dtype, device, format);
  return at::uniform_(result, 0, 1, generator);
}

static Tensor randn_like(const Tensor& self, const OptionalGenerator& generator, OptionalType dtype, OptionalLayout,
                         OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  check_not_pinned(pin_memory);
  Tensor result = empty_like_impl(self, dtype, device, format);
  return at::normal_(result, 0, 1, generator);
}

static Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, OptionalType dtype, OptionalLayout,
                               OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  check_not_pinned(pin_memory);
  Tensor result = empty_like_impl(self, dtype, device, format);
  return at::random_(result, low, high, std::nullopt);
}

static Tensor randint_like(const Tensor& self, int64_t high, OptionalType dtype, OptionalLayout layout,
                           OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  return randint_like_low(self, 0, high, dtype, layout, device, pin_memory, format);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("rand(int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(rand), FUNCTION);
  m.def("randn(int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randn), FUNCTION);
  m.def("randint(int high, int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randint),
        FUNCTION);
  m.def("randint.low(int low, int high, int[] size, *, Generator? generator=None, " OPTIONS ") -> Tensor",
        TORCH_FN(randint_low), FUNCTION);
  m.def("randperm(int n, *, Generator? generator=None, " OPTIONS ") -> Tensor", TORCH_FN(randperm), FUNCTION);
  m.def("rand_like(Tensor self, *, Generator? generator=None, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(rand_like), FUNCTION);
  m.def("randn_like(Tensor self, *, Generator? generator=None, " OPTIONS
        ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randn_like), FUNCTION);
  m.def("randint_like(Tensor self, int high, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randint_like), FUNCTION);
  m.def("randint_like.low_dtype(Tensor self, int low, int high, *, " OPTIONS
        ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(randint_like_low), FUNCTION);
}

} // namespace reftorch::at::native
