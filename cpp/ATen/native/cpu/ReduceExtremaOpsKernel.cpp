// Mirrors: aten/src/ATen/native/cpu/ReduceAllOpsKernel.cpp, aten/src/ATen/native/cpu/TensorCompareKernel.cpp
//
// The largest and smallest values: alone over any dimensions, or with their positions along one dimension.
#include <ATen/native/ReduceOps.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace reftorch::at::native {
namespace {

void max_values_kernel(TensorIterator& iter) {
  dispatch<AllTypesAndBool>(iter.dtype(), "max_values_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, MaxOps<scalar_t, compared_type<scalar_t>>());
  });
}

void min_values_kernel(TensorIterator& iter) {
  dispatch<AllTypesAndBool>(iter.dtype(), "min_values_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    binary_kernel_reduce<scalar_t, scalar_t>(iter, MinOps<scalar_t, compared_type<scalar_t>>());
  });
}

// Whether any of kSearch elements is `value`. Vector instructions can report that some element matches, but not which.
constexpr int64_t kSearch = 64;
template <typename scalar_t, typename acc_t>
inline bool contains(const scalar_t* data, acc_t value) {
  int found = 0;
  for (int64_t j = 0; j < kSearch; j++) {
    found |= int(acc_t(c10::load(data + j)) == value);
  }
  return found != 0;
}

// The first position of `value`, which the row contains; NaN matches any NaN. The search goes block by block, then
// element by element.
template <typename scalar_t, typename acc_t>
TARGET_CLONES static int64_t first_position(const scalar_t* data, int64_t n, acc_t value) {
  const bool nan = value != value;
  int64_t i = 0;
  while (!nan && i + kSearch < n && !contains(data + i, value)) {
    i += kSearch;
  }
  for (; i + 1 < n; i++) {
    const acc_t x = c10::load(data + i);
    if (x == value || (nan && x != x)) {
      break;
    }
  }
  return i;
}

// values, indices: (outer, inner); self: (outer, n, inner). For inner = 1, each row is read twice: once for the value,
// once for its position.
template <typename scalar_t, typename Ops>
void extremum_rows(scalar_t* values, int64_t* indices, const scalar_t* self, DimShape shape, const Ops& ops) {
  for (int64_t o = 0; o < shape.outer; o++) {
    const scalar_t* row = self + o * shape.n;
    const auto value = reduce_run<scalar_t>(reinterpret_cast<const char*>(row), sizeof(scalar_t), shape.n, ops);
    values[o] = scalar_t(value);
    indices[o] = first_position(row, shape.n, value);
  }
}

// For inner > 1, kStrip columns are processed at a time, row after row. `better` is a strict comparison, so the first
// of equal elements stays.
template <typename scalar_t, typename Ops>
TARGET_CLONES static void extremum_columns(scalar_t* values, int64_t* indices, const scalar_t* self, int64_t n,
                                           int64_t inner, int64_t width, Ops ops) {
  typename Ops::acc_t best[kStrip];
  int64_t place[kStrip];
  for (int64_t c = 0; c < width; c++) {
    best[c] = c10::load(self + c);
    place[c] = 0;
  }
  for (int64_t i = 1; i < n; i++) {
    const scalar_t* row = self + i * inner;
    for (int64_t c = 0; c < width; c++) {
      const typename Ops::acc_t x = c10::load(row + c), joined = ops.combine(best[c], x);
      const bool better = (joined != best[c]) & (best[c] == best[c]);
      best[c] = better ? x : best[c];
      place[c] = better ? i : place[c];
    }
  }
  for (int64_t c = 0; c < width; c++) {
    values[c] = scalar_t(best[c]);
    indices[c] = place[c];
  }
}

template <template <typename, typename> class Ops>
void extremum_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape,
                     const char* name) {
  dispatch<AllTypesAndBool>(self.scalar_type(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Ops<scalar_t, compared_type<scalar_t>> ops;
    scalar_t* value = values.data_ptr<scalar_t>();
    int64_t* index = indices.data_ptr<int64_t>();
    const scalar_t* data = self.data_ptr<scalar_t>();
    if (shape.inner == 1) {
      parallel_for(0, shape.outer, grain_of(shape.n), [&](int64_t lo, int64_t hi) {
        extremum_rows(value + lo, index + lo, data + lo * shape.n, {hi - lo, shape.n, 1}, ops);
      });
      return;
    }
    const int64_t strips = (shape.inner + kStrip - 1) / kStrip;
    for (int64_t s = 0; s < shape.outer * strips; s++) {
      const int64_t o = s / strips, first = s % strips * kStrip, out = o * shape.inner + first;
      extremum_columns(value + out, index + out, data + o * shape.n * shape.inner + first, shape.n, shape.inner,
                       std::min(kStrip, shape.inner - first), ops);
    }
  });
}

void max_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  extremum_kernel<MaxOps>(values, indices, self, shape, "max_cpu");
}

void min_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape) {
  extremum_kernel<MinOps>(values, indices, self, shape, "min_cpu");
}

} // namespace

REGISTER_CPU_DISPATCH(max_values_stub, max_values_kernel)
REGISTER_CPU_DISPATCH(min_values_stub, min_values_kernel)
REGISTER_CPU_DISPATCH(max_stub, max_kernel)
REGISTER_CPU_DISPATCH(min_stub, min_kernel)

} // namespace reftorch::at::native
