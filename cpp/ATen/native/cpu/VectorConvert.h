// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (convert), aten/src/ATen/cpu/vec/vec256/vec256_16bit_float.h
// Rows of 16-bit floats as floats, and back, rounded to the nearest (ties to even). For halves by the processor's
// instructions for that, which the compiler does not use of itself; a loop over bfloat16 it makes shifts of vectors.
#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>
#include <vector>

namespace reftorch::at::native {

// in, out: n elements each
void convert(const c10::Half* in, float* out, int64_t n);
void convert(const float* in, c10::Half* out, int64_t n);
void convert(const c10::BFloat16* in, float* out, int64_t n);
void convert(const float* in, c10::BFloat16* out, int64_t n);

// The ladder of halves, the naive rung first, as far as this processor climbs it; convert takes the last one, or in
// the Debug build the first.
struct HalfConversion {
  const char* name;
  void (*to_float)(const c10::Half* in, float* out, int64_t n);
  void (*from_float)(const float* in, c10::Half* out, int64_t n);
};
std::vector<HalfConversion> half_conversions();

} // namespace reftorch::at::native
