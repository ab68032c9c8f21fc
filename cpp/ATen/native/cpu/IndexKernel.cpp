// Mirrors: aten/src/ATen/native/cpu/IndexKernel.cpp, aten/src/ATen/native/cpu/ScatterGatherKernel.cpp
#include <ATen/native/Fill.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

int64_t checked_offset(int64_t index, const IndexRule& rule) {
  if (rule.size >= 0 && !(0 <= index && index < rule.size)) {
    TORCH_CHECK_INDEX(rule.dim >= 0, "index out of range in self: ", index, " for a dimension of size ", rule.size);
    TORCH_CHECK(false, "index ", index, " is out of bounds for dimension ", rule.dim, " with size ", rule.size);
  }
  return index * rule.stride_bytes;
}

// Calls move(written, read, offset) for each element. The index often stands still along a row (x[idx] of a matrix
// takes whole rows), so its offset is worked out once for it.
template <typename F>
void index_loop(char** data, const int64_t* strides, int64_t size0, int64_t size1, const IndexRule& rule,
                const F& move) {
  for (int64_t j = 0; j < size1; j++) {
    char* written = data[0] + j * strides[3];
    char* read = data[1] + j * strides[4];
    const char* index = data[2] + j * strides[5];
    if (strides[2] == 0) {
      const int64_t offset = checked_offset(*reinterpret_cast<const int64_t*>(index), rule);
      for (int64_t i = 0; i < size0; i++) {
        move(written + i * strides[0], read + i * strides[1], offset);
      }
    } else {
      for (int64_t i = 0; i < size0; i++) {
        const int64_t offset = checked_offset(*reinterpret_cast<const int64_t*>(index + i * strides[2]), rule);
        move(written + i * strides[0], read + i * strides[1], offset);
      }
    }
  }
}

// Neither the overlap checks nor the type rules of ordinary ops apply, so all operands are inputs.
TensorIterator make_index_iterator(const Tensor& written, const Tensor& read, const Tensor& indices) {
  return TensorIteratorConfig().add_input(written).add_input(read).add_input(indices).build();
}

void index_kernel(const Tensor& written_tensor, const Tensor& read_tensor, const Tensor& indices,
                  const IndexRule& rule) {
  const TensorIterator iter = make_index_iterator(written_tensor, read_tensor, indices);
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(0), "index_cpu", [&] {
    iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      index_loop(data, strides, size0, size1, rule, [](char* written, char* read, int64_t offset) {
        *reinterpret_cast<scalar_t*>(written) = *reinterpret_cast<const scalar_t*>(read + offset);
      });
    });
  });
}

// On one thread: two indices may name one place.
void index_put_kernel(const Tensor& written_tensor, const Tensor& read_tensor, const Tensor& indices,
                      const IndexRule& rule, bool accumulate) {
  const TensorIterator iter = make_index_iterator(written_tensor, read_tensor, indices);
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(0), "index_put", [&] {
    auto put = [&](auto&& store) {
      iter.serial_for_each(
          [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
            index_loop(data, strides, size0, size1, rule, [&](char* written, char* read, int64_t offset) {
              store(*reinterpret_cast<scalar_t*>(written + offset), *reinterpret_cast<const scalar_t*>(read));
            });
          },
          0, iter.numel());
    };
    if (accumulate) {
      using opmath_t = opmath_type<scalar_t>;
      put([](scalar_t& place, scalar_t value) { place = static_cast<scalar_t>(opmath_t(place) + opmath_t(value)); });
    } else {
      put([](scalar_t& place, scalar_t value) { place = value; });
    }
  });
}

void masked_fill_kernel(TensorIterator& iter, const Scalar& value_scalar) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "masked_fill", [&] {
    const auto value = checked_convert<scalar_t>(value_scalar);
    cpu_kernel(iter, [value](scalar_t self, bool mask) -> scalar_t { return mask ? value : self; });
  });
}

template <typename scalar_t>
bool is_nonzero(scalar_t value) {
  return static_cast<opmath_type<scalar_t>>(value) != opmath_type<scalar_t>(0);
}

template <typename scalar_t>
Tensor nonzero_impl(const Tensor& self) {
  const scalar_t* data = self.data_ptr<scalar_t>();
  const int64_t n = self.numel(), ndim = self.dim();
  const int64_t count = std::count_if(data, data + n, is_nonzero<scalar_t>);
  const Tensor result = detail::empty_generic({ndim, count}, kLong, self.device());
  int64_t* out = result.data_ptr<int64_t>();
  for (int64_t i = 0, found = 0; found < count; i++) {
    if (is_nonzero(data[i])) {
      for (int64_t d = ndim - 1, rest = i; d >= 0; d--) {
        out[d * count + found] = rest % self.sizes()[d];
        rest /= self.sizes()[d];
      }
      found++;
    }
  }
  return result;
}

Tensor nonzero_kernel(const Tensor& self) {
  Tensor result;
  AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "nonzero", [&] { result = nonzero_impl<scalar_t>(self); });
  return result;
}

} // namespace

REGISTER_DISPATCH(index_stub, index_kernel)
REGISTER_DISPATCH(index_put_stub, index_put_kernel)
REGISTER_DISPATCH(masked_fill_stub, masked_fill_kernel)
REGISTER_DISPATCH(nonzero_stub, nonzero_kernel)

} // namespace reftorch::at::native
