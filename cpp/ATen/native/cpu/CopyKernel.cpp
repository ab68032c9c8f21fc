// Mirrors: aten/src/ATen/native/cpu/CopyKernel.cpp
//
// If the dtypes are equal, a copy only moves bytes, on one of three rungs: copy_strided (one element at a time),
// copy_row (dense rows) and copy_transposed (tile by tile).
#include <ATen/native/Copy.h>
#include <ATen/native/DispatchSize.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cstring>

namespace reftorch::at::native {
namespace {

// Converts between any two dtypes. C++ leaves a float outside the range of an integer type undefined; conversion to a
// small integer keeps the low bits of a large one, as in PyTorch.
template <typename To, typename From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0.f);
  } else if constexpr (std::is_integral_v<To> && sizeof(To) < 4 && !std::is_integral_v<From>) {
    return static_cast<To>(static_cast<int64_t>(static_cast<opmath_type<From>>(value)));
  } else {
    return static_cast<To>(static_cast<opmath_type<From>>(value));
  }
}

// One tile of kTile rows and columns, by way of a small array.
constexpr int64_t kTile = 8;
template <typename T>
void transpose_tile(char* out, int64_t out_step, const char* in, int64_t in_step) {
  T tile[kTile][kTile];
  for (int64_t i = 0; i < kTile; i++) {
    for (int64_t j = 0; j < kTile; j++) {
      tile[j][i] = reinterpret_cast<const T*>(in + i * in_step)[j];
    }
  }
  for (int64_t j = 0; j < kTile; j++) {
    std::memcpy(out + j * out_step, tile[j], sizeof(tile[j]));
  }
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
// The fast rung for elements of four bytes: four by four of them at a time stay in registers. The first shuffles pair
// the rows a and b, and c and d; the second join the pairs.
template <>
void transpose_tile<uint32_t>(char* out, int64_t out_step, const char* in, int64_t in_step) {
  using Four = uint32_t __attribute__((vector_size(16)));
  for (int64_t i = 0; i < kTile; i += 4) {
    for (int64_t j = 0; j < kTile; j += 4) {
      Four a, b, c, d;
      const char* first = in + i * in_step + j * sizeof(uint32_t);
      std::memcpy(&a, first, sizeof(Four));
      std::memcpy(&b, first + in_step, sizeof(Four));
      std::memcpy(&c, first + 2 * in_step, sizeof(Four));
      std::memcpy(&d, first + 3 * in_step, sizeof(Four));
      const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const Four rows[] = {
          __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
          __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
      for (int64_t k = 0; k < 4; k++) {
        std::memcpy(out + (j + k) * out_step + i * sizeof(uint32_t), &rows[k], sizeof(Four));
      }
    }
  }
}
#endif
#endif

// out: `rows` dense rows of `width` elements, `out_step` bytes apart. in: the transposed matrix, whose columns are
// dense, so that neighbours in a row of out are `in_step` bytes apart. One of the two has to be walked with long steps.
// The copy goes tile by tile, so that the cache lines of a tile are still in the cache when their next element is
// needed; for the same reason, it writes kSpan neighbours of each row before it goes on to other rows. So it reads from
// kSpan places in turn, which are more than a processor's own prefetcher follows. The loop asks for the memory itself
// where the matrix is too large for the cache: 16 ms became 8 ms for 1e7 floats that were in no cache.
template <typename T>
void copy_transposed(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t width, int64_t rows) {
  constexpr int64_t kSpan = 64, size = sizeof(T), kCache = int64_t(1) << 20, kAhead = 128; // the last two in bytes
  const int64_t whole_width = width / kTile * kTile, whole_rows = rows / kTile * kTile;
  const bool is_large = rows * width * size > kCache;
  for (int64_t begin = 0; begin < whole_width; begin += kSpan) {
    const int64_t end = std::min(begin + kSpan, whole_width);
    for (int64_t j = 0; j < whole_rows; j += kTile) {
      for (int64_t i = begin; i < end; i += kTile) {
        const char* tile = in + i * in_step + j * size;
        for (int64_t k = 0; is_large && k < kTile; k++) {
          __builtin_prefetch(tile + k * in_step + kAhead);
        }
        transpose_tile<T>(out + j * out_step + i * size, out_step, tile, in_step);
      }
    }
  }
  for (int64_t j = 0; j < rows; j++) { // the elements at the two edges, outside of all tiles
    for (int64_t i = j < whole_rows ? whole_width : 0; i < width; i++) {
      reinterpret_cast<T*>(out + j * out_step)[i] = reinterpret_cast<const T*>(in + i * in_step)[j];
    }
  }
}

// Copies a short row in pieces of fixed size, because a call of memcpy costs as much as such a piece.
inline void copy_row(char* out, const char* in, int64_t bytes) {
  constexpr int64_t kPiece = 64, kShort = 512;
  if (bytes <= kShort) {
    for (; bytes >= kPiece; bytes -= kPiece, out += kPiece, in += kPiece) {
      std::memcpy(out, in, kPiece);
    }
  }
  if (bytes > 0) {
    std::memcpy(out, in, bytes);
  }
}

template <typename T>
void copy_strided(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    *reinterpret_cast<T*>(out + i * out_stride) = *reinterpret_cast<const T*>(in + i * in_stride);
  }
}

// T may be any type of the size of an element.
template <typename T>
void copy_bytes_kernel(TensorIterator& iter) {
  constexpr int64_t size = sizeof(T), kShort = 8; // a shorter row is not worth a call
  iter.for_each([](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    const bool to_rows = strides[0] == size && size0 >= kShort;
    if (to_rows && strides[3] == size && size1 >= kShort && strides[1] != size && strides[1] != 0) {
      copy_transposed<T>(data[0], strides[2], data[1], strides[1], size0, size1);
      return;
    }
    if (size0 < kShort && size0 < size1) { // a few long columns, instead of many short rows
      for (int64_t i = 0; i < size0; i++) {
        copy_strided<T>(data[0] + i * strides[0], strides[2], data[1] + i * strides[1], strides[3], size1);
      }
      return;
    }
    for (int64_t j = 0; j < size1; j++) {
      char *out = data[0] + j * strides[2], *in = data[1] + j * strides[3];
      if (to_rows && strides[1] == size) {
        copy_row(out, in, size0 * size);
      } else if (to_rows && strides[1] == 0) {
        std::fill_n(reinterpret_cast<T*>(out), size0, *reinterpret_cast<const T*>(in));
      } else {
        copy_strided<T>(out, strides[0], in, strides[1], size0);
      }
    }
  });
}

void direct_copy_kernel(TensorIterator& iter) {
  dispatch_size(c10::elementSize(iter.dtype()), [&](auto word) { copy_bytes_kernel<decltype(word)>(iter); });
}

// Converts a row of halves to floats, or floats to halves, one block at a time; strided floats go through a dense
// buffer.
void convert_row(char* out, int64_t out_stride, const c10::Half* in, int64_t in_stride, int64_t n) {
  constexpr int64_t itemsize = sizeof(float);
  float room[kBlockWidth];
  for (int64_t begin = 0; begin < n; begin += kBlockWidth, out += kBlockWidth * out_stride) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    const bool dense = out_stride == itemsize;
    const char* first = reinterpret_cast<const char*>(in) + begin * in_stride;
    native::convert(reinterpret_cast<const c10::Half*>(first), in_stride, dense ? reinterpret_cast<float*>(out) : room,
                    width);
    if (!dense) {
      copy_strided<float>(out, out_stride, reinterpret_cast<const char*>(room), itemsize, width);
    }
  }
}
void convert_row(char* out, int64_t out_stride, const float* in, int64_t in_stride, int64_t n) {
  constexpr int64_t itemsize = sizeof(float);
  float room[kBlockWidth];
  for (int64_t begin = 0; begin < n; begin += kBlockWidth, out += kBlockWidth * out_stride) {
    const int64_t width = std::min(kBlockWidth, n - begin);
    const char* first = reinterpret_cast<const char*>(in) + begin * in_stride;
    const bool dense = in_stride == itemsize;
    if (!dense) {
      copy_strided<float>(reinterpret_cast<char*>(room), itemsize, first, in_stride, width);
    }
    native::convert(dense ? reinterpret_cast<const float*>(first) : room, reinterpret_cast<c10::Half*>(out), out_stride,
                    width);
  }
}

template <typename From>
void convert_halves_kernel(TensorIterator& iter) {
  iter.for_each([](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t j = 0; j < size1; j++) {
      convert_row(data[0] + j * strides[2], strides[0], reinterpret_cast<const From*>(data[1] + j * strides[3]),
                  strides[1], size0);
    }
  });
}

// A bool is read as a byte, which becomes 0 or 1 (Note [Bool bytes]).
template <typename To>
void convert_kernel(TensorIterator& iter) {
  dispatch<AllTypesAndBool>(iter.input_dtype(), "copy_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using from_t = std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
    constexpr bool from_half = std::is_same_v<from_t, c10::Half> && std::is_same_v<To, float>;
    constexpr bool to_half = std::is_same_v<from_t, float> && std::is_same_v<To, c10::Half>;
    if constexpr (from_half || to_half) {
      convert_halves_kernel<from_t>(iter);
    } else {
      cpu_kernel(iter, [](from_t a) -> To {
        return convert<To>(std::is_same_v<scalar_t, bool> ? static_cast<from_t>(a != from_t(0.f)) : a);
      });
    }
  });
}

void copy_kernel(TensorIterator& iter, bool /*non_blocking*/) {
  if (iter.numel() == 0) {
    return; // an empty tensor may have no memory
  }
  if (iter.dtype() != iter.input_dtype()) {
    dispatch<AllTypesAndBool>(iter.dtype(), "copy_", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      convert_kernel<scalar_t>(iter);
    });
  } else if (iter.is_contiguous()) {
    std::memcpy(iter.data_ptr(0), iter.data_ptr(1), iter.numel() * c10::elementSize(iter.dtype()));
  } else {
    direct_copy_kernel(iter);
  }
}

} // namespace

REGISTER_CPU_DISPATCH(copy_stub, copy_kernel)

} // namespace reftorch::at::native
