// Mirrors: aten/src/ATen/native/cuda/Bucketization.cu
#include <ATen/Dispatch.h>
#include <ATen/native/Bucketization.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// A binary search for each value. The comparisons are written so that no boundary stops a NaN: a NaN value goes behind
// all boundaries.
template <typename scalar_t, typename out_t>
struct SearchFunctor {
  out_t* out;
  const scalar_t* values;     // (rows, n)
  const scalar_t* boundaries; // (rows, m), or (1, m)
  const int64_t* sorter;      // as boundaries, or null
  int64_t n, m;
  bool one_row, right;
  __device__ void operator()(int64_t i) const {
    using opmath_t = opmath_type<scalar_t>;
    const int64_t first = one_row ? 0 : i / n * m;
    const opmath_t x = values[i];
    int64_t low = 0, high = m;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const opmath_t there = boundaries[first + (sorter != nullptr ? sorter[first + middle] : middle)];
      const bool is_before = right ? !(there > x) : !(there >= x);
      (is_before ? low : high) = is_before ? middle + 1 : middle;
    }
    out[i] = static_cast<out_t>(low);
  }
};

void searchsorted_kernel_cuda(const Tensor& result, const Tensor& values, const Tensor& boundaries,
                              const Tensor& sorter, bool right) {
  dispatch<AllNumbers>(values.scalar_type(), "searchsorted_out_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto search = [&](auto* out) {
      using out_t = std::remove_pointer_t<decltype(out)>;
      gpu_for_each(values.device(), values.numel(),
                   SearchFunctor<scalar_t, out_t>{out, values.data_ptr<scalar_t>(), boundaries.data_ptr<scalar_t>(),
                                                  sorter.defined() ? sorter.data_ptr<int64_t>() : nullptr,
                                                  values.size(1), boundaries.size(1), boundaries.size(0) == 1, right});
    };
    if (result.scalar_type() == kInt) {
      search(result.data_ptr<int32_t>());
    } else {
      search(result.data_ptr<int64_t>());
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(searchsorted_stub, searchsorted_kernel_cuda)

} // namespace reftorch::at::native
