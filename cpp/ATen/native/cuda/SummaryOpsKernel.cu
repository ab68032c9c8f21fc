// Mirrors: aten/src/ATen/native/cuda/SummaryOps.cu
//
// Each element adds to its bin, atomically. Left out: bins in shared memory.
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/SummaryOps.h>

#include <ATen/native/cuda/Atomic.cuh>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

template <typename out_t>
struct BincountFunctor {
  out_t* out;
  const int64_t* place;
  const out_t* weight; // or null
  __device__ void operator()(int64_t i) const {
    atomic_join(out + place[i], weight != nullptr ? weight[i] : out_t(1), AddNumbers());
  }
};

template <typename out_t>
void bincount_impl(const Tensor& result, const Tensor& self, const Tensor& weights) {
  const out_t* weight = weights.defined() ? weights.data_ptr<out_t>() : nullptr;
  gpu_for_each(self.device(), self.numel(),
               BincountFunctor<out_t>{result.data_ptr<out_t>(), self.data_ptr<int64_t>(), weight});
}

void bincount_kernel_cuda(const Tensor& result, const Tensor& self, const Tensor& weights) {
  switch (result.scalar_type()) {
    case kFloat: return bincount_impl<float>(result, self, weights);
    case kDouble: return bincount_impl<double>(result, self, weights);
    default: return bincount_impl<int64_t>(result, self, weights);
  }
}

// An element outside of [low, high] is not counted; `high` itself belongs to the last bin. Each step is rounded to the
// dtype of the tensor, as on the CPU.
template <typename scalar_t>
struct HistcFunctor {
  using opmath_t = opmath_type<scalar_t>;
  int64_t* counts;
  const scalar_t* in;
  opmath_t low, high, width, steps;
  int64_t bins;

  C10_HOST_DEVICE static opmath_t rounded(opmath_t value) {
    return static_cast<opmath_t>(static_cast<scalar_t>(value));
  }
  __device__ void operator()(int64_t i) const {
    const opmath_t x = in[i];
    if (x >= low && x <= high) {
      const auto bin = static_cast<int64_t>(rounded(rounded(rounded(x - low) * steps) / width));
      atomic_join(counts + (bin < bins ? bin : bins - 1), int64_t(1), AddNumbers());
    }
  }
};

void histc_kernel_cuda(const Tensor& result, const Tensor& self, double min, double max) {
  const int64_t bins = result.numel();
  const Tensor counts = at::zeros({bins}, kLong, self.device());
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "histc", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    using Functor = HistcFunctor<scalar_t>;
    const opmath_t low = Functor::rounded(opmath_t(min)), high = Functor::rounded(opmath_t(max));
    gpu_for_each(self.device(), self.numel(),
                 Functor{counts.data_ptr<int64_t>(), self.data_ptr<scalar_t>(), low, high, Functor::rounded(high - low),
                         Functor::rounded(opmath_t(bins)), bins});
  });
  Tensor out = result;
  at::copy_(out, counts);
}

} // namespace

REGISTER_CUDA_DISPATCH(bincount_stub, bincount_kernel_cuda)
REGISTER_CUDA_DISPATCH(histc_stub, histc_kernel_cuda)

} // namespace reftorch::at::native
