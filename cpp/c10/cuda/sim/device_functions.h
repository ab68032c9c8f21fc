// Mirrors: nothing in PyTorch: stands in for device_functions.h, device_atomic_functions.h, sm_30_intrinsics.h and the
// other headers of CUDA that declare what a kernel may call
//
// Included by cuda_runtime.h, which has the functions that reftorch's own kernels call. This file has those that other
// people's kernels call. Names, argument types and results are CUDA's; the approximate functions (__expf) are as exact
// as the exact ones. Left out: textures, surfaces, video instructions, tensor cores (mma, wmma), asynchronous copies.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <thread>

// ---- Memory ----
// Loads and stores that choose a cache. They are macros, so that debuggers and watchers see them in the kernel's line.
#define __ldg(...) (*(__VA_ARGS__))
#define __ldca(...) (*(__VA_ARGS__))
#define __ldcg(...) (*(__VA_ARGS__))
#define __ldcs(...) (*(__VA_ARGS__))
#define __stcg(p, value) (void)(*(p) = (value))
#define __stcs(p, value) (void)(*(p) = (value))
inline void __threadfence_block() {
  __threadfence();
}
inline void __threadfence_system() {
  __threadfence();
}

// ---- Minimum and maximum, for every pair of types for which CUDA declares them ----
#define CUDA_SIM_MIN_MAX(R, A, B)                             \
  inline R min(A a, B b) {                                    \
    return std::min<R>(static_cast<R>(a), static_cast<R>(b)); \
  }                                                           \
  inline R max(A a, B b) {                                    \
    return std::max<R>(static_cast<R>(a), static_cast<R>(b)); \
  }
CUDA_SIM_MIN_MAX(int, int, int)
CUDA_SIM_MIN_MAX(unsigned, unsigned, unsigned)
CUDA_SIM_MIN_MAX(unsigned, int, unsigned)
CUDA_SIM_MIN_MAX(unsigned, unsigned, int)
CUDA_SIM_MIN_MAX(long, long, long)
CUDA_SIM_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDA_SIM_MIN_MAX(unsigned long, long, unsigned long)
CUDA_SIM_MIN_MAX(unsigned long, unsigned long, long)
CUDA_SIM_MIN_MAX(long long, long long, long long)
CUDA_SIM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDA_SIM_MIN_MAX(unsigned long long, long long, unsigned long long)
CUDA_SIM_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUDA_SIM_MIN_MAX
inline float min(float a, float b) {
  return std::fmin(a, b);
}
inline float max(float a, float b) {
  return std::fmax(a, b);
}
inline double min(double a, double b) {
  return std::fmin(a, b);
}
inline double max(double a, double b) {
  return std::fmax(a, b);
}
inline double min(float a, double b) {
  return std::fmin(double(a), b);
}
inline double min(double a, float b) {
  return std::fmin(a, double(b));
}
inline double max(float a, double b) {
  return std::fmax(double(a), b);
}
inline double max(double a, float b) {
  return std::fmax(a, double(b));
}

// ---- Atomic operations ----
template <typename T>
CUDA_SIM_SILENT T atomicSub(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return static_cast<T>(old - value); });
}
template <typename T>
CUDA_SIM_SILENT T atomicAnd(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return static_cast<T>(old & value); });
}
template <typename T>
CUDA_SIM_SILENT T atomicOr(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return static_cast<T>(old | value); });
}
template <typename T>
CUDA_SIM_SILENT T atomicXor(T* p, typename cudasim::identity<T>::type value) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](T old) { return static_cast<T>(old ^ value); });
}
// Counts up to `last` and then begins at 0 again; atomicDec counts down and then begins at `last` again.
CUDA_SIM_SILENT inline unsigned atomicInc(unsigned* p, unsigned last) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](unsigned old) { return old >= last ? 0 : old + 1; });
}
CUDA_SIM_SILENT inline unsigned atomicDec(unsigned* p, unsigned last) {
  cudasim::note_atomic(p, sizeof(*p), __builtin_return_address(0));
  return cudasim::atomic_update(p, [=](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}
// The operations that are atomic only for the threads of a block, or also for other devices and the host.
#define CUDA_SIM_SCOPES(name)                                        \
  template <typename T>                                              \
  T name##_block(T* p, typename cudasim::identity<T>::type value) {  \
    return name(p, value);                                           \
  }                                                                  \
  template <typename T>                                              \
  T name##_system(T* p, typename cudasim::identity<T>::type value) { \
    return name(p, value);                                           \
  }
CUDA_SIM_SCOPES(atomicAdd)
CUDA_SIM_SCOPES(atomicSub)
CUDA_SIM_SCOPES(atomicMin)
CUDA_SIM_SCOPES(atomicMax)
CUDA_SIM_SCOPES(atomicExch)
CUDA_SIM_SCOPES(atomicAnd)
CUDA_SIM_SCOPES(atomicOr)
CUDA_SIM_SCOPES(atomicXor)
#undef CUDA_SIM_SCOPES

// ---- Barriers that also combine a value, and operations of a warp ----
namespace cudasim {
int syncthreads_count(bool predicate); // how many threads of the block passed true
unsigned active_mask();
} // namespace cudasim

CUDA_SIM_SILENT inline int __syncthreads_count(int predicate) {
  return cudasim::syncthreads_count(predicate != 0);
}
CUDA_SIM_SILENT inline int __syncthreads_or(int predicate) {
  return cudasim::syncthreads_count(predicate != 0) != 0;
}
CUDA_SIM_SILENT inline int __syncthreads_and(int predicate) {
  return cudasim::syncthreads_count(predicate == 0) == 0;
}
// Returns the lanes of the warp that have not left the kernel. A GPU returns those of them that run this instruction
// together; the simulator runs one thread after the other and cannot know them, so after a branch that only some lanes
// take, the result names too many.
inline unsigned __activemask() {
  return cudasim::active_mask();
}
template <typename T>
CUDA_SIM_SILENT unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  for (int lane = 0; lane < warpSize; lane++) {
    if (mask >> lane & 1) {
      same |= unsigned(cudasim::shuffle(mask, value, lane) == value) << lane;
    }
  }
  return same;
}
#define CUDA_SIM_REDUCE(name, expression)               \
  template <typename T>                                 \
  CUDA_SIM_SILENT T name(unsigned mask, T value) {      \
    const T mine = value;                               \
    bool first = true;                                  \
    for (int lane = 0; lane < warpSize; lane++) {       \
      if (mask >> lane & 1) {                           \
        const T b = cudasim::shuffle(mask, mine, lane); \
        const T a = value;                              \
        value = first ? b : static_cast<T>(expression); \
        first = false;                                  \
      }                                                 \
    }                                                   \
    return value;                                       \
  }
CUDA_SIM_REDUCE(__reduce_add_sync, a + b)
CUDA_SIM_REDUCE(__reduce_min_sync, b < a ? b : a)
CUDA_SIM_REDUCE(__reduce_max_sync, a < b ? b : a)
CUDA_SIM_REDUCE(__reduce_and_sync, a& b)
CUDA_SIM_REDUCE(__reduce_or_sync, a | b)
CUDA_SIM_REDUCE(__reduce_xor_sync, a ^ b)
#undef CUDA_SIM_REDUCE

// ---- Bits ----
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { // the position of the lowest bit, from 1 on; 0 if there is none
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; i++) {
    reversed |= (x >> i & 1) << (31 - i);
  }
  return reversed;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline int __mul24(int a, int b) {
  return static_cast<int>(int64_t(a << 8 >> 8) * (b << 8 >> 8));
}
inline int __mulhi(int a, int b) {
  return static_cast<int>(int64_t(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}

// ---- Numbers seen as bits, and conversions ----
namespace cudasim {
template <typename To, typename From>
To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "both types must have the same size");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}
} // namespace cudasim
inline int __float_as_int(float x) {
  return cudasim::bits_as<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return cudasim::bits_as<unsigned>(x);
}
inline float __int_as_float(int x) {
  return cudasim::bits_as<float>(x);
}
inline float __uint_as_float(unsigned x) {
  return cudasim::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
  return cudasim::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return cudasim::bits_as<double>(x);
}
inline int __float2int_rn(float x) {
  return static_cast<int>(std::nearbyint(x));
}
inline int __float2int_rz(float x) {
  return static_cast<int>(x);
}
inline int __float2int_rd(float x) {
  return static_cast<int>(std::floor(x));
}
inline int __float2int_ru(float x) {
  return static_cast<int>(std::ceil(x));
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}
inline double __int2double_rn(int x) {
  return x;
}
inline float __double2float_rn(double x) {
  return static_cast<float>(x);
}

// ---- Mathematics beyond <cmath> ----
inline float __expf(float x) {
  return std::exp(x);
}
inline float __exp10f(float x) {
  return std::pow(10.0f, x);
}
inline float __logf(float x) {
  return std::log(x);
}
inline float __log2f(float x) {
  return std::log2(x);
}
inline float __log10f(float x) {
  return std::log10(x);
}
inline float __sinf(float x) {
  return std::sin(x);
}
inline float __cosf(float x) {
  return std::cos(x);
}
inline float __tanf(float x) {
  return std::tan(x);
}
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float __powf(float x, float y) {
  return std::pow(x, y);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
  return std::sqrt(x);
}
inline float __frsqrt_rn(float x) {
  return 1.0f / std::sqrt(x);
}
inline float __saturatef(float x) { // NaN becomes 0, as on a GPU
  return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
inline double rsqrt(double x) {
  return 1.0 / std::sqrt(x);
}
inline float fdividef(float a, float b) {
  return a / b;
}
inline float normcdff(float x) {
  return 0.5f * std::erfc(-x * 0.70710678f);
}
inline double normcdf(double x) {
  return 0.5 * std::erfc(-x * 0.70710678118654752440);
}
inline float sinpif(float x) {
  return static_cast<float>(std::sin(x * 3.14159265358979323846));
}
inline float cospif(float x) {
  return static_cast<float>(std::cos(x * 3.14159265358979323846));
}

// ---- Time and ends ----
inline void __nanosleep(unsigned nanoseconds) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
}
[[noreturn]] inline void __trap(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cudasim::fail_kernel(cudaErrorLaunchFailure, "__trap() was called", file, line);
}

// ---- Symbols ----
// A variable with __constant__ or __device__ is an ordinary variable of the host here, so a copy has to wait for the
// kernels that read it, and then is one memcpy.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) {
    std::memcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes);
  }
  return error;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) {
    std::memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
  }
  return error;
}
