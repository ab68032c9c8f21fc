// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (convert), aten/src/ATen/cpu/vec/vec256/vec256_16bit_float.h
//
// Converts rows of 16-bit floats to floats, and floats back to 16 bits, rounded to the nearest (ties to even). float16
// uses the processor's conversion instructions, which the compiler does not use by itself. A plain loop over bfloat16
// becomes vector shifts.
#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace reftorch::at::native {

// in and out have n elements each.
void convert(const c10::Half* in, float* out, int64_t n);
void convert(const float* in, c10::Half* out, int64_t n);
void convert(const c10::BFloat16* in, float* out, int64_t n);
void convert(const float* in, c10::BFloat16* out, int64_t n);

// Converts float16 elements that lie `stride` bytes apart. They are first copied side by side, because the instructions
// convert neighbours.
void convert(const c10::Half* in, int64_t stride, float* out, int64_t n);
void convert(const float* in, c10::Half* out, int64_t stride, int64_t n);

// n elements in the type in which a kernel computes: their own place in memory, or for 16-bit floats a copy in `room`.
template <typename T, typename opmath_t>
const opmath_t* widened(const T* in, int64_t n, opmath_t* room) {
  if constexpr (std::is_same_v<T, opmath_t>) {
    return in;
  } else {
    convert(in, room, n);
    return room;
  }
}

// The ladder of float16 conversions, naive rung first, as far as this processor supports it. convert uses the last
// rung, or in the Debug build the first.
struct HalfConversion {
  const char* name;
  void (*to_float)(const c10::Half* in, float* out, int64_t n);
  void (*from_float)(const float* in, c10::Half* out, int64_t n);
};
std::vector<HalfConversion> half_conversions();

} // namespace reftorch::at::native
