// Mirrors: aten/src/ATen/native/cpu/IndexKernel.cpp, aten/src/ATen/native/cpu/ScatterGatherKernel.cpp
#include <ATen/native/IndexKernel.h>

#include <ATen/native/DispatchSize.h>
#include <ATen/native/Fill.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace reftorch::at::native {
namespace {

[[noreturn]] __attribute__((cold, noinline)) void fail_index(int64_t index, const IndexRule& rule) {
  using Use = IndexRule::Use;
  TORCH_CHECK_INDEX(rule.use != Use::Select, "index out of range in self: ", index, " for a dimension of size ",
                    rule.size);
  TORCH_CHECK_INDEX(rule.use != Use::Take, "out of range: tried to access index ", index, " on a tensor of ", rule.size,
                    " elements.");
  TORCH_CHECK_INDEX(rule.use == Use::Gather, rule.use == Use::Copy ? "index_copy_(): " : "", "index ", index,
                    " is out of bounds for dimension ", rule.dim, " with size ", rule.size);
  TORCH_CHECK(false, "index ", index, " is out of bounds for dimension ", rule.dim, " with size ", rule.size);
  __builtin_unreachable();
}

// An IndexRule, prepared for use in a loop.
class Offset final {
 public:
  explicit Offset(const IndexRule& rule) : rule_(rule), bounds_(rule), stride_(rule.stride_bytes) {}
  int64_t operator()(int64_t index) const {
    if (__builtin_expect(!bounds_.contain(index), 0)) {
      fail_index(index, rule_);
    }
    return bounds_.wrap(index) * stride_;
  }

 private:
  const IndexRule& rule_;
  IndexBounds bounds_;
  int64_t stride_;
};

// Calls move(written, read, offset) for each element of a row.
template <typename F>
void index_row(char* written, char* read, const char* index, const int64_t* strides, int64_t n, const Offset& offset,
               const F& move) {
  for (int64_t i = 0; i < n; i++) {
    move(written + i * strides[0], read + i * strides[1],
         offset(*reinterpret_cast<const int64_t*>(index + i * strides[2])));
  }
}

// Calls row(written, read, index) for each row of a two-dimensional piece.
template <typename F>
void for_each_row(char** data, const int64_t* strides, int64_t rows, const F& row) {
  for (int64_t j = 0; j < rows; j++) {
    row(data[0] + j * strides[3], data[1] + j * strides[4], data[2] + j * strides[5]);
  }
}

// All operands are inputs, because neither the overlap checks nor the dtype rules of ordinary ops apply.
TensorIterator make_index_iterator(const Tensor& written, const Tensor& read, const Tensor& indices) {
  return TensorIteratorConfig().add_input(written).add_input(read).add_input(indices).build();
}

// out[i] = base[indices[i]], for elements `step` apart. Returns false if an index is not in [0, size); the contents of
// out are then undefined. The check and the moves are two loops without branches, one block at a time, so that the
// indices stay in the cache.
template <typename T>
TARGET_CLONES static bool gather_row(T* out, const T* base, const int64_t* indices, int64_t n, uint64_t size,
                                     int64_t step) {
  constexpr int64_t kChecked = 512;
  for (int64_t begin = 0; begin < n; begin += kChecked) {
    const int64_t end = std::min(begin + kChecked, n);
    int outside = 0;
    for (int64_t i = begin; i < end; i++) {
      outside |= int(uint64_t(indices[i]) >= size);
    }
    if (outside) {
      return false;
    }
    for (int64_t i = begin; i < end; i++) {
      out[i] = base[indices[i] * step];
    }
  }
  return true;
}

// The index is often constant along a row: x[idx] of a matrix takes whole rows. Such rows are copied whole.
template <typename T>
void index_impl(const TensorIterator& iter, const IndexRule& rule) {
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    const Offset offset(rule);
    const bool whole_rows = strides[2] == 0 && strides[0] == sizeof(T) && strides[1] == sizeof(T);
    const bool gathers = strides[0] == sizeof(T) && strides[1] == 0 && strides[2] == sizeof(int64_t);
    for_each_row(data, strides, size1, [&](char* written, char* read, const char* index) {
      if (whole_rows) {
        // Two rows of one matrix may overlap where no check above can tell cheaply, so they are moved, not copied.
        std::memmove(written, read + offset(*reinterpret_cast<const int64_t*>(index)), size0 * sizeof(T));
      } else if (gathers) {
        constexpr int64_t size = sizeof(T);
        if (rule.size >= 0 && rule.stride_bytes % size == 0 &&
            gather_row(reinterpret_cast<T*>(written), reinterpret_cast<const T*>(read),
                       reinterpret_cast<const int64_t*>(index), size0, uint64_t(rule.size), rule.stride_bytes / size)) {
          return;
        }
        const Offset local = offset; // a local copy stays in registers, because no store through T* can change it
        const auto* indices = reinterpret_cast<const int64_t*>(index);
        auto* out = reinterpret_cast<T*>(written);
        for (int64_t i = 0; i < size0; i++) {
          out[i] = *reinterpret_cast<const T*>(read + local(indices[i]));
        }
      } else {
        index_row(written, read, index, strides, size0, offset, [](char* to, const char* from, int64_t distance) {
          *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from + distance);
        });
      }
    });
  });
}

void index_kernel(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule) {
  const TensorIterator iter = make_index_iterator(written, read, indices);
  dispatch_size(written.itemsize(), [&](auto element) { index_impl<decltype(element)>(iter, rule); });
}

void index_rows_kernel(const Tensor& written, const Tensor& read, const Tensor& indices, IndexRule::Use use) {
  const int64_t n = indices.numel(), size = read.sizes()[0];
  const int64_t width = size == 0 ? 0 : read.numel() / size, row_bytes = width * static_cast<int64_t>(read.itemsize());
  const int64_t* index = indices.data_ptr<int64_t>();
  char* to = static_cast<char*>(written.data_ptr());
  const char* from = static_cast<const char*>(read.data_ptr());
  IndexRule rule;
  rule.use = use;
  rule.size = size;
  rule.stride_bytes = row_bytes;
  parallel_for(0, n, grain_of(width), [&](int64_t lo, int64_t hi) {
    const Offset offset(rule);
    if (width != 1) {
      for (int64_t i = lo; i < hi; i++) {
        std::memcpy(to + i * row_bytes, from + offset(index[i]), row_bytes);
      }
      return;
    }
    dispatch_size(row_bytes, [&](auto element) {
      using T = decltype(element);
      for (int64_t i = lo; i < hi; i++) {
        reinterpret_cast<T*>(to)[i] = *reinterpret_cast<const T*>(from + offset(index[i]));
      }
    });
  });
}

// Calls store(place, value) for each element, or store_row(places, values, n) where the index is constant along a row.
// Runs on one thread, because two indices may name one place.
template <typename T, typename F, typename G>
void index_put_impl(const TensorIterator& iter, const IndexRule& rule, const F& store, const G& store_row) {
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        const Offset offset(rule);
        const bool whole_rows = strides[2] == 0 && strides[0] == sizeof(T) && strides[1] == sizeof(T);
        const bool scatters = strides[0] == 0 && strides[1] == sizeof(T) && strides[2] == sizeof(int64_t);
        for_each_row(data, strides, size1, [&](char* written, char* read, const char* index) {
          const auto* from = reinterpret_cast<const T*>(read);
          if (whole_rows) {
            auto* to = reinterpret_cast<T*>(written + offset(*reinterpret_cast<const int64_t*>(index)));
            store_row(to, from, size0);
          } else if (scatters) {
            const Offset local = offset;
            const auto* indices = reinterpret_cast<const int64_t*>(index);
            for (int64_t i = 0; i < size0; i++) {
              store(*reinterpret_cast<T*>(written + local(indices[i])), from[i]);
            }
          } else {
            index_row(written, read, index, strides, size0, offset, [&](char* to, const char* value, int64_t distance) {
              store(*reinterpret_cast<T*>(to + distance), *reinterpret_cast<const T*>(value));
            });
          }
        });
      },
      0, iter.numel());
}

void index_put_kernel(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule,
                      ReductionType reduce) {
  const TensorIterator iter = make_index_iterator(written, read, indices);
  if (reduce == ReductionType::REPLACE) {
    dispatch_size(written.itemsize(), [&](auto element) {
      using T = decltype(element);
      index_put_impl<T>(
          iter, rule, [](T& place, const T& value) { place = value; },
          [](T* places, const T* values, int64_t n) { std::copy_n(values, n, places); });
    });
    return;
  }
  dispatch<AllTypesAndBool>(iter.dtype(0), "index_put", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    auto put = [&](auto join) {
      index_put_impl<scalar_t>(
          iter, rule,
          [join](scalar_t& place, const scalar_t& value) {
            place = static_cast<scalar_t>(join(opmath_t(c10::load(&place)), opmath_t(c10::load(&value))));
          },
          [join](scalar_t* places, const scalar_t* values, int64_t n) {
            char* const to = reinterpret_cast<char*>(places);
            char* const data[] = {to, to, const_cast<char*>(reinterpret_cast<const char*>(values))};
            constexpr int64_t strides[] = {sizeof(scalar_t), sizeof(scalar_t), sizeof(scalar_t)};
            loop_1d<scalar_t>(data, strides, n, join, std::make_index_sequence<2>());
          });
    };
    switch (reduce) {
      case ReductionType::PROD:
        return put([](opmath_t a, opmath_t b) -> opmath_t {
          const auto product = a * b; // the product of two bools is an int
          return static_cast<opmath_t>(product);
        });
      case ReductionType::MAX:
        return put([](opmath_t a, opmath_t b) -> opmath_t { return (b > a) | (b != b) ? b : a; });
      case ReductionType::MIN:
        return put([](opmath_t a, opmath_t b) -> opmath_t { return (b < a) | (b != b) ? b : a; });
      default: return put([](opmath_t a, opmath_t b) -> opmath_t { return a + b; });
    }
  });
}

void masked_fill_kernel(TensorIterator& iter, const Scalar& value_scalar) {
  uint64_t bits = 0;
  dispatch<AllTypesAndBool>(iter.dtype(), "masked_fill", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto value = value_scalar.to<scalar_t>();
    static_assert(sizeof(value) <= sizeof(bits));
    std::memcpy(&bits, &value, sizeof(value)); // little endian: the value is in the lower bytes
  });
  dispatch_size(c10::elementSize(iter.dtype()), [&](auto element) {
    using T = decltype(element);
    const T value = static_cast<T>(bits);
    // The mask is read as bytes, because GCC does not vectorize loops over bool.
    cpu_kernel(iter, [value](T self, uint8_t mask) -> T { return mask != 0 ? value : self; });
  });
}

// Copies the elements of self whose mask is true to out, which has room for `count`, the number of these elements. Each
// element is written to the next place of out, but the loop moves on to the place after that one only if the mask is
// true, so that the loop has no branch that could be mispredicted.
template <typename T>
void compact(const T* self, const bool* mask, T* out, int64_t count) {
  for (int64_t i = 0, found = 0; found < count; i++) {
    out[found] = self[i];
    found += c10::load(mask + i);
  }
}

int64_t count_true(const bool* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    count += c10::load(mask + i);
  }
  return count;
}

Tensor masked_select_kernel(const Tensor& self, const Tensor& mask) {
  const bool* chosen = mask.data_ptr<bool>();
  const int64_t count = count_true(chosen, mask.numel());
  const Tensor result = detail::empty_generic(count, self.scalar_type(), self.device());
  dispatch_size(self.itemsize(), [&](auto element) {
    using T = decltype(element);
    compact(static_cast<const T*>(self.data_ptr()), chosen, static_cast<T*>(result.data_ptr()), count);
  });
  return result;
}

void masked_scatter_kernel(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const bool* chosen = mask.data_ptr<bool>();
  const int64_t count = count_true(chosen, mask.numel());
  TORCH_CHECK(count <= source.numel(), "Number of elements of source < number of ones in mask");
  dispatch_size(out.itemsize(), [&](auto element) {
    using T = decltype(element);
    T* to = static_cast<T*>(out.data_ptr());
    const T* from = static_cast<const T*>(source.data_ptr());
    for (int64_t i = 0; i < mask.numel(); i++) {
      if (c10::load(chosen + i)) {
        to[i] = *from++;
      }
    }
  });
}

template <typename scalar_t>
bool is_nonzero(const scalar_t& element) {
  return static_cast<opmath_type<scalar_t>>(c10::load(&element)) != opmath_type<scalar_t>(0);
}

// Walks row by row, because within a row only the last coordinate changes.
template <typename scalar_t>
Tensor nonzero_impl(const Tensor& self) {
  const scalar_t* data = self.data_ptr<scalar_t>();
  const int64_t ndim = self.dim(), last = std::max<int64_t>(ndim - 1, 0);
  const int64_t count = std::count_if(data, data + self.numel(), is_nonzero<scalar_t>);
  const Tensor result = detail::empty_generic({ndim, count}, kLong, self.device());
  int64_t* out = result.data_ptr<int64_t>();
  const int64_t width = ndim == 0 ? 1 : self.sizes()[last];
  DimVector row(static_cast<size_t>(last), 0);
  for (int64_t begin = 0, found = 0; found < count && ndim > 0; begin += width) {
    for (int64_t i = 0; i < width; i++) {
      if (is_nonzero(data[begin + i])) {
        for (int64_t d = 0; d < last; d++) {
          out[d * count + found] = row[d];
        }
        out[last * count + found++] = i;
      }
    }
    for (int64_t d = last - 1; d >= 0 && ++row[d] == self.sizes()[d]; d--) {
      row[d] = 0;
    }
  }
  return result;
}

Tensor nonzero_kernel(const Tensor& self) {
  Tensor result;
  dispatch<AllTypesAndBool>(self.scalar_type(), "nonzero", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    result = nonzero_impl<scalar_t>(self);
  });
  return result;
}

void check_bounds_kernel(const Tensor& indices, int64_t size, c10::function_ref<void(int64_t index)> refuse) {
  const int64_t* first = indices.data_ptr<int64_t>();
  for (int64_t i = 0; i < indices.numel(); i++) {
    if (first[i] < 0 || first[i] >= size) {
      refuse(first[i]);
    }
  }
}

void add_offsets_kernel(const Tensor& offsets, const Tensor& index, int64_t number, int64_t size,
                        int64_t stride_bytes) {
  const int64_t* from = index.data_ptr<int64_t>();
  int64_t* to = offsets.data_ptr<int64_t>();
  for (int64_t i = 0; i < offsets.numel(); i++) {
    TORCH_CHECK_INDEX(-size <= from[i] && from[i] < size, "index ", from[i], " is out of bounds for dimension ", number,
                      " with size ", size);
    to[i] += (from[i] < 0 ? from[i] + size : from[i]) * stride_bytes;
  }
}

} // namespace

REGISTER_CPU_DISPATCH(index_stub, index_kernel)
REGISTER_CPU_DISPATCH(index_rows_stub, index_rows_kernel)
REGISTER_CPU_DISPATCH(index_put_stub, index_put_kernel)
REGISTER_CPU_DISPATCH(masked_fill_stub, masked_fill_kernel)
REGISTER_CPU_DISPATCH(masked_select_stub, masked_select_kernel)
REGISTER_CPU_DISPATCH(masked_scatter_stub, masked_scatter_kernel)
REGISTER_CPU_DISPATCH(nonzero_stub, nonzero_kernel)
REGISTER_CPU_DISPATCH(check_bounds_stub, check_bounds_kernel)
REGISTER_CPU_DISPATCH(add_offsets_stub, add_offsets_kernel)

} // namespace reftorch::at::native
