// Mirrors: aten/src/ATen/native/cuda/IndexKernel.cu, aten/src/ATen/native/cuda/ScatterGatherKernel.cu
//
// Reading and writing at places given by a tensor of indices: x[indices], gather, take, index_put, scatter; and masks.
// A kernel cannot throw. An index out of range fails an assertion on the device, and a later call of CUDA reports the
// failure. Where indices repeat, index_put without a reduction keeps any one of the values, as on a GPU of PyTorch.
#include <ATen/native/IndexKernel.h>

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/native/DispatchSize.h>
#include <ATen/native/cuda/Atomic.cuh>
#include <ATen/native/cuda/Loops.cuh>

#include <cstring>

namespace reftorch::at::native {
namespace {

// Places in memory, by an index each. See IndexRule.
struct Offset {
  IndexBounds bounds;
  int64_t stride;

  explicit Offset(const IndexRule& rule) : bounds(rule), stride(rule.stride_bytes) {}
  __device__ int64_t operator()(int64_t index) const {
    CUDA_KERNEL_ASSERT(bounds.contain(index) && "index out of bounds");
    return bounds.wrap(index) * stride;
  }
};

// operands: written, read, indices
template <typename word_t>
__global__ void gather_kernel(Operands<3> operands, int64_t n, Offset offset) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t places[3];
    operands.offsets(i, places);
    const int64_t index = *reinterpret_cast<const int64_t*>(operands.at(2, places[2]));
    *reinterpret_cast<word_t*>(operands.data[0] + places[0]) =
        *reinterpret_cast<const word_t*>(operands.at(1, places[1]) + offset(index));
  }
}

// written: (n / width, width); read: (size, width); indices: (n / width). written[i] = read[indices[i]]
template <typename word_t>
__global__ void gather_rows_kernel(word_t* written, const word_t* read, const int64_t* indices, int64_t width,
                                   int64_t n, Offset row) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    written[i] = read[row(indices[i / width]) * width + i % width];
  }
}

// offsets, index: (n)
__global__ void add_offsets_kernel(int64_t* offsets, const int64_t* index, int64_t n, Offset offset) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    offsets[i] += offset(index[i]);
  }
}

void index_kernel_cuda(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule) {
  const int64_t n = written.numel();
  if (n == 0) {
    return;
  }
  // All operands are inputs, because neither the overlap checks nor the dtype rules of ordinary ops apply.
  const TensorIterator iter = TensorIteratorConfig().add_input(written).add_input(read).add_input(indices).build();
  const c10::cuda::CUDAGuard guard(written.device().index());
  dispatch_size(written.itemsize(), [&](auto word) {
    c10::cuda::launch(gather_kernel<decltype(word)>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), Operands<3>(iter), n, Offset(rule));
  });
}

void index_rows_kernel_cuda(const Tensor& written, const Tensor& read, const Tensor& indices, IndexRule::Use use) {
  const int64_t n = written.numel(), size = read.sizes()[0];
  if (n == 0) {
    return;
  }
  IndexRule rule;
  rule.use = use;
  rule.size = size;
  const c10::cuda::CUDAGuard guard(written.device().index());
  dispatch_size(written.itemsize(), [&](auto word) {
    using word_t = decltype(word);
    c10::cuda::launch(gather_rows_kernel<word_t>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), static_cast<word_t*>(written.data_ptr()),
                      static_cast<const word_t*>(read.data_ptr()), indices.data_ptr<int64_t>(), n / indices.numel(), n,
                      Offset(rule));
  });
}

void add_offsets_kernel_cuda(const Tensor& offsets, const Tensor& index, int64_t /*number*/, int64_t size,
                             int64_t stride_bytes) {
  const int64_t n = offsets.numel();
  if (n == 0) {
    return;
  }
  IndexRule rule;
  rule.size = size;
  rule.stride_bytes = stride_bytes;
  const c10::cuda::CUDAGuard guard(offsets.device().index());
  c10::cuda::launch(add_offsets_kernel, cuda::grid_size(n, kThreads), kThreads, 0, c10::cuda::getCurrentCUDAStream(),
                    offsets.data_ptr<int64_t>(), index.data_ptr<int64_t>(), n, Offset(rule));
}

struct Replace {
  template <typename T>
  __device__ void operator()(T* place, T value) const {
    *place = value;
  }
};

// For one number that goes to many places. Equal indices write the same number to one place: in CUDA's model of memory,
// two plain stores are a race even then, and two volatile stores are not.
struct ReplaceByTheSame {
  template <typename T>
  __device__ void operator()(T* place, T value) const {
    *const_cast<volatile T*>(place) = value;
  }
};

template <typename Join>
struct JoinAtomically {
  template <typename T>
  __device__ void operator()(T* place, T value) const {
    atomic_join(place, value, Join());
  }
};

struct MultiplyNumbers {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    const auto product = a * b; // the product of two bools is an int
    return static_cast<T>(product);
  }
};
struct LargerNumber {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};
struct SmallerNumber {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};

bool is_one_number(const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); d++) {
    if (t.sizes()[d] > 1 && t.strides()[d] != 0) {
      return false;
    }
  }
  return true;
}

// operands: written, read, indices
template <typename scalar_t, typename Store>
struct IndexPutFunctor {
  Operands<3> operands;
  Offset offset;
  Store store;

  __device__ void operator()(int64_t i) const {
    int64_t places[3];
    operands.offsets(i, places);
    const int64_t index = *reinterpret_cast<const int64_t*>(operands.at(2, places[2]));
    store(reinterpret_cast<scalar_t*>(operands.data[0] + places[0] + offset(index)),
          c10::load<scalar_t>(operands.at(1, places[1])));
  }
};

void index_put_kernel_cuda(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule,
                           ReductionType reduce) {
  const TensorIterator iter = TensorIteratorConfig().add_input(written).add_input(read).add_input(indices).build();
  if (iter.numel() == 0) {
    return;
  }
  const Operands<3> operands(iter);
  if (reduce == ReductionType::REPLACE) {
    dispatch_size(written.itemsize(), [&](auto word) {
      using word_t = decltype(word);
      if (rule.use == IndexRule::Use::Fill || is_one_number(read)) {
        using Store = ReplaceByTheSame;
        gpu_for_each(written.device(), iter.numel(), IndexPutFunctor<word_t, Store>{operands, Offset(rule), {}});
      } else {
        gpu_for_each(written.device(), iter.numel(), IndexPutFunctor<word_t, Replace>{operands, Offset(rule), {}});
      }
    });
    return;
  }
  dispatch<AllTypesAndBool>(iter.dtype(0), "index_put", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto put = [&](auto join) {
      using Store = JoinAtomically<decltype(join)>;
      gpu_for_each(written.device(), iter.numel(), IndexPutFunctor<scalar_t, Store>{operands, Offset(rule), {}});
    };
    switch (reduce) {
      case ReductionType::PROD: return put(MultiplyNumbers());
      case ReductionType::MAX: return put(LargerNumber());
      case ReductionType::MIN: return put(SmallerNumber());
      default: return put(AddNumbers());
    }
  });
}

template <typename word_t>
struct MaskedFillFunctor {
  word_t value;
  C10_HOST_DEVICE word_t operator()(word_t self, uint8_t mask) const { // the mask is read as a byte
    return mask != 0 ? value : self;
  }
};

void masked_fill_kernel_cuda(TensorIterator& iter, const Scalar& value_scalar) {
  uint64_t bits = 0;
  dispatch<AllTypesAndBool>(iter.dtype(), "masked_fill", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto value = value_scalar.to<scalar_t>();
    static_assert(sizeof(value) <= sizeof(bits), "the bytes of a larger number would be cut");
    std::memcpy(&bits, &value, sizeof(value)); // little endian: the value is in the lower bytes
  });
  dispatch_size(c10::elementSize(iter.dtype()), [&](auto word) {
    using word_t = decltype(word);
    gpu_kernel(iter, MaskedFillFunctor<word_t>{static_cast<word_t>(bits)});
  });
}

// Returns for each flag (bool, contiguous) the number of true flags up to it and including it: int64, flat. The place
// of a chosen element among the chosen ones is its number minus one, and the last number says how many there are.
Tensor numbers_of(const Tensor& flags) {
  return at::cumsum(at::view(flags, {flags.numel()}), 0, kLong);
}

int64_t last_of(const Tensor& numbers) {
  return numbers.numel() == 0 ? 0 : at::select(numbers, 0, -1).item().toLong();
}

template <typename word_t>
struct MaskedSelectFunctor {
  word_t* out;
  const word_t* self;
  const uint8_t* mask;
  const int64_t* numbers;
  __device__ void operator()(int64_t i) const {
    if (mask[i] != 0) {
      out[numbers[i] - 1] = self[i];
    }
  }
};

Tensor masked_select_kernel_cuda(const Tensor& self, const Tensor& mask) {
  const Tensor numbers = numbers_of(mask);
  const Tensor result = detail::empty_generic(last_of(numbers), self.scalar_type(), self.device());
  dispatch_size(self.itemsize(), [&](auto word) {
    using word_t = decltype(word);
    gpu_for_each(self.device(), mask.numel(),
                 MaskedSelectFunctor<word_t>{
                     static_cast<word_t*>(result.data_ptr()), static_cast<const word_t*>(self.data_ptr()),
                     static_cast<const uint8_t*>(mask.data_ptr()), numbers.data_ptr<int64_t>()});
  });
  return result;
}

template <typename word_t>
struct MaskedScatterFunctor {
  word_t* out;
  const word_t* source;
  const uint8_t* mask;
  const int64_t* numbers;
  __device__ void operator()(int64_t i) const {
    if (mask[i] != 0) {
      out[i] = source[numbers[i] - 1];
    }
  }
};

void masked_scatter_kernel_cuda(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const Tensor numbers = numbers_of(mask);
  TORCH_CHECK(last_of(numbers) <= source.numel(), "Number of elements of source < number of ones in mask");
  dispatch_size(out.itemsize(), [&](auto word) {
    using word_t = decltype(word);
    gpu_for_each(out.device(), mask.numel(),
                 MaskedScatterFunctor<word_t>{
                     static_cast<word_t*>(out.data_ptr()), static_cast<const word_t*>(source.data_ptr()),
                     static_cast<const uint8_t*>(mask.data_ptr()), numbers.data_ptr<int64_t>()});
  });
}

// Writes the coordinates of chosen element i to column numbers[i] - 1 of out (ndim, count).
struct NonzeroFunctor {
  int64_t* out;
  const uint8_t* flags;
  const int64_t* numbers;
  int64_t count;
  int ndim;
  int64_t sizes[kMaxDims];
  __device__ void operator()(int64_t i) const {
    if (flags[i] == 0) {
      return;
    }
    int64_t rest = i;
    for (int d = ndim - 1; d >= 0; d--) {
      out[d * count + numbers[i] - 1] = rest % sizes[d];
      rest /= sizes[d];
    }
  }
};

Tensor nonzero_kernel_cuda(const Tensor& self) {
  const Tensor flags = at::ne(self, detail::wrapped_scalar_tensor(0));
  const Tensor numbers = numbers_of(flags);
  const int64_t count = last_of(numbers);
  const Tensor result = detail::empty_generic({self.dim(), count}, kLong, self.device());
  TORCH_CHECK(self.dim() <= kMaxDims, "nonzero: tensor has too many (>", kMaxDims, ") dims");
  NonzeroFunctor write{result.data_ptr<int64_t>(),   static_cast<const uint8_t*>(flags.data_ptr()),
                       numbers.data_ptr<int64_t>(),  count,
                       static_cast<int>(self.dim()), {}};
  std::copy(self.sizes().begin(), self.sizes().end(), write.sizes);
  gpu_for_each(self.device(), self.numel(), write);
  return result;
}

struct CheckBoundsFunctor {
  const int64_t* indices;
  int64_t size;
  __device__ void operator()(int64_t i) const {
    CUDA_KERNEL_ASSERT(indices[i] >= 0 && indices[i] < size && "index out of bounds");
  }
};

// A kernel cannot call `refuse`, so the check fails on the device.
void check_bounds_kernel_cuda(const Tensor& indices, int64_t size, c10::function_ref<void(int64_t index)> /*refuse*/) {
  gpu_for_each(indices.device(), indices.numel(), CheckBoundsFunctor{indices.data_ptr<int64_t>(), size});
}

} // namespace

REGISTER_CUDA_DISPATCH(index_stub, index_kernel_cuda)
REGISTER_CUDA_DISPATCH(index_rows_stub, index_rows_kernel_cuda)
REGISTER_CUDA_DISPATCH(index_put_stub, index_put_kernel_cuda)
REGISTER_CUDA_DISPATCH(masked_fill_stub, masked_fill_kernel_cuda)
REGISTER_CUDA_DISPATCH(masked_select_stub, masked_select_kernel_cuda)
REGISTER_CUDA_DISPATCH(masked_scatter_stub, masked_scatter_kernel_cuda)
REGISTER_CUDA_DISPATCH(nonzero_stub, nonzero_kernel_cuda)
REGISTER_CUDA_DISPATCH(check_bounds_stub, check_bounds_kernel_cuda)
REGISTER_CUDA_DISPATCH(add_offsets_stub, add_offsets_kernel_cuda)

} // namespace reftorch::at::native
