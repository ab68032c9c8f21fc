// Mirrors: aten/src/ATen/cpu/vec/vec256/vec256_half.h, aten/src/ATen/cpu/vec/vec512/vec512_bfloat16.h (cvtfp16_fp32)
#include <ATen/native/cpu/VectorConvert.h>

#include <ATen/native/cpu/Loops.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace reftorch::at::native {
namespace {

using c10::BFloat16;
using c10::Half;

template <typename From, typename To>
TARGET_CLONES static void convert_each(const From* in, To* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = static_cast<To>(in[i]);
  }
}

#if defined(__x86_64__)

// F16C, which every processor with AVX2 has: eight numbers at a time.
__attribute__((target("avx2,f16c"))) void halves_to_floats_f16c(const Half* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  for (; i < n; i++) {
    out[i] = in[i];
  }
}
__attribute__((target("avx2,f16c"))) void floats_to_halves_f16c(const float* in, Half* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
  for (; i < n; i++) {
    out[i] = in[i];
  }
}

// AVX-512: sixteen numbers at a time, and then the remaining ones at once.
__attribute__((target("avx512f,avx512bw,avx512vl"))) void halves_to_floats_avx512(const Half* in, float* out,
                                                                                  int64_t n) {
  constexpr __mmask16 kAll = 0xffff;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(kAll, halves));
  }
  const auto rest = static_cast<__mmask16>((1 << (n - i)) - 1);
  _mm512_mask_storeu_ps(out + i, rest, _mm512_maskz_cvtph_ps(rest, _mm256_maskz_loadu_epi16(rest, in + i)));
}
__attribute__((target("avx512f,avx512bw,avx512vl"))) void floats_to_halves_avx512(const float* in, Half* out,
                                                                                  int64_t n) {
  constexpr __mmask16 kAll = 0xffff;
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i halves = _mm512_maskz_cvtps_ph(kAll, _mm512_loadu_ps(in + i), kNearest);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), halves);
  }
  const auto rest = static_cast<__mmask16>((1 << (n - i)) - 1);
  const __m512 floats = _mm512_maskz_loadu_ps(rest, in + i);
  _mm256_mask_storeu_epi16(out + i, rest, _mm512_maskz_cvtps_ph(rest, floats, kNearest));
}

#endif

const HalfConversion& half_conversion() {
#ifdef REFTORCH_MULTI_ISA
  static const HalfConversion chosen = half_conversions().back();
#else
  static const HalfConversion chosen = half_conversions().front();
#endif
  return chosen;
}

} // namespace

std::vector<HalfConversion> half_conversions() {
  std::vector<HalfConversion> ladder{{"one by one", convert_each<Half, float>, convert_each<float, Half>}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    ladder.push_back({"F16C", halves_to_floats_f16c, floats_to_halves_f16c});
  }
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    ladder.push_back({"AVX-512", halves_to_floats_avx512, floats_to_halves_avx512});
  }
#endif
  return ladder;
}

void convert(const Half* in, float* out, int64_t n) {
  half_conversion().to_float(in, out, n);
}
void convert(const float* in, Half* out, int64_t n) {
  half_conversion().from_float(in, out, n);
}
void convert(const Half* in, int64_t stride, float* out, int64_t n) {
  if (stride == int64_t(sizeof(Half))) {
    return convert(in, out, n);
  }
  Half neighbours[kBlockWidth];
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    const char* first = reinterpret_cast<const char*>(in) + begin * stride;
    for (int64_t i = 0; i < width; i++) {
      neighbours[i] = *reinterpret_cast<const Half*>(first + i * stride);
    }
    convert(neighbours, out + begin, width);
  }
}
void convert(const float* in, Half* out, int64_t stride, int64_t n) {
  if (stride == int64_t(sizeof(Half))) {
    return convert(in, out, n);
  }
  Half neighbours[kBlockWidth];
  for (int64_t begin = 0; begin < n; begin += kBlockWidth) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    char* first = reinterpret_cast<char*>(out) + begin * stride;
    convert(in + begin, neighbours, width);
    for (int64_t i = 0; i < width; i++) {
      *reinterpret_cast<Half*>(first + i * stride) = neighbours[i];
    }
  }
}
void convert(const BFloat16* in, float* out, int64_t n) {
  convert_each(in, out, n);
}
void convert(const float* in, BFloat16* out, int64_t n) {
  convert_each(in, out, n);
}

} // namespace reftorch::at::native
