// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (convert), aten/src/ATen/cpu/vec/vec256/vec256_16bit_float.h
// Rows of 16-bit floats as floats, and back, rounded to the nearest (ties to even). For halves by the processor's
// instructions for that, which the compiler does not use of itself; a loop over bfloat16 it makes shifts of vectors.
#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace reftorch::at::native {

// in, out: n elements each
void convert(const c10::Half* in, float* out, int64_t n);
void convert(const float* in, c10::Half* out, int64_t n);
void convert(const c10::BFloat16* in, float* out, int64_t n);
void convert(const float* in, c10::BFloat16* out, int64_t n);

// Of halves that lie `stride` bytes apart: brought side by side first, for the instructions convert neighbours.
void convert(const c10::Half* in, int64_t stride, float* out, int64_t n);
void convert(const float* in, c10::Half* out, int64_t stride, int64_t n);

// n elements as a kernel computes with them: where they lie, or, of 16-bit floats, as floats in `room`.
template <typename T, typename opmath_t>
const opmath_t* widened(const T* in, int64_t n, opmath_t* room) {
  if constexpr (std::is_same_v<T, opmath_t>) {
    return in;
  } else {
    convert(in, room, n);
    return room;
  }
}

// The ladder of halves, the naive rung first, as far as this processor climbs it; convert takes the last one, or in
// the Debug build the first.
struct HalfConversion {
  const char* name;
  void (*to_float)(const c10::Half* in, float* out, int64_t n);
  void (*from_float)(const float* in, c10::Half* out, int64_t n);
};
std::vector<HalfConversion> half_conversions();

} // namespace reftorch::at::native
