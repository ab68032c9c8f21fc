// Mirrors: aten/src/ATen/Context.cpp, aten/src/ATen/native/TensorFactories.h (fill_empty_deterministic_)
#include <ATen/Context.h>

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace reftorch::at {

Context& globalContext() {
  static Context context;
  return context;
}

void Context::alert(const char* caller) const {
  const char* options = deterministic_algorithms_warn_only_ ? "True, warn_only=True" : "True";
  const std::string message = c10::str(
      caller, " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(",
      options, ")'.");
  if (deterministic_algorithms_warn_only_) {
    TORCH_WARN(message);
    return;
  }
  TORCH_CHECK(false, message, " Hint: turn it off around this operation, or use the 'warn_only=True' option.");
}

bool Context::setFlushDenormal(bool on) {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040; // bits of the control register MXCSR
  const unsigned bits = kFlushToZero | kDenormalsAreZero;
  _mm_setcsr(on ? _mm_getcsr() | bits : _mm_getcsr() & ~bits);
  return true;
#elif defined(__aarch64__)
  constexpr uint64_t kFlushToZero = uint64_t(1) << 24; // bit FZ of the control register FPCR: both operands and results
  uint64_t bits = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
  bits = on ? bits | kFlushToZero : bits & ~kFlushToZero;
  __asm__ volatile("msr fpcr, %0" ::"r"(bits));
  return true;
#else
  (void)on;
  return false;
#endif
}

} // namespace reftorch::at

namespace reftorch::at::detail {

void fill_uninitialized(const Tensor& t, int64_t first_byte) {
  const Context& context = globalContext();
  if (!context.deterministicAlgorithms() || !context.deterministicFillUninitializedMemory()) {
    return;
  }
  dispatch<AllTypesAndBool>(t.scalar_type(), "fill_empty_deterministic_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto known = std::numeric_limits<scalar_t>::has_quiet_NaN ? std::numeric_limits<scalar_t>::quiet_NaN()
                                                                    : std::numeric_limits<scalar_t>::max();
    const auto size = static_cast<int64_t>(sizeof(scalar_t));
    const int64_t last = static_cast<int64_t>(t.storage().nbytes()) / size;
    const int64_t first = std::min((first_byte + size - 1) / size, last);
    Tensor all = alias_with_sizes_and_strides(t, last - first, 1, first);
    at::fill_(all, known);
  });
}

} // namespace reftorch::at::detail
