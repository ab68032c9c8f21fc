// Mirrors: aten/src/ATen/native/cuda/ReflectionPad.cu, aten/src/ATen/native/cuda/ReplicationPadding.cu
//
// Copies elements into a border: one thread for each element of the output. In the backward, each element of the input
// has a thread, which adds up the gradients of the copies of the element, so that no two threads add to the same place.
#include <ATen/native/Padding.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

C10_HOST_DEVICE int64_t elements_of(const PaddingGeometry::Dims& sizes, int64_t inner) {
  return sizes[0] * sizes[1] * sizes[2] * inner;
}

// The place of an element in a tensor (outer, *sizes, inner).
struct PaddedPlace {
  int64_t outer, d, h, w, inner;

  __device__ PaddedPlace(int64_t i, const PaddingGeometry::Dims& sizes, int64_t inner_size)
      : outer(i / inner_size / sizes[2] / sizes[1] / sizes[0]),
        d(i / inner_size / sizes[2] / sizes[1] % sizes[0]),
        h(i / inner_size / sizes[2] % sizes[1]),
        w(i / inner_size % sizes[2]),
        inner(i % inner_size) {}
};

__device__ int64_t offset_of(int64_t outer, int64_t d, int64_t h, int64_t w, int64_t inner,
                             const PaddingGeometry::Dims& sizes, int64_t inner_size) {
  return (((outer * sizes[0] + d) * sizes[1] + h) * sizes[2] + w) * inner_size + inner;
}

// output (outer, *s.output, inner), input (outer, *s.input, inner)
template <typename scalar_t>
__global__ void padding_kernel(scalar_t* output, const scalar_t* input, PaddingGeometry s, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const PaddedPlace o(i, s.output, s.inner);
    output[i] =
        input[offset_of(o.outer, s.source(0, o.d), s.source(1, o.h), s.source(2, o.w), o.inner, s.input, s.inner)];
  }
}

// The elements of the output along dimension d that copy element i of the input, in rising order: those of the border
// in front, the element itself, those of the border behind. A mirrored border has at most one copy of i on each side.
struct Copies {
  int64_t begin[3], end[3];

  __device__ Copies(const PaddingGeometry& s, size_t d, int64_t i) {
    const int64_t itself = s.before[d] + i, last = s.input[d] - 1;
    const auto set = [&](int part, int64_t first, int64_t stop) {
      begin[part] = first > 0 ? first : 0;
      end[part] = stop < s.output[d] ? stop : s.output[d];
    };
    set(1, itself, itself + 1);
    if (s.mode == PaddingMode::Reflection) {
      const int64_t in_front = s.before[d] - i, behind = s.before[d] + 2 * last - i;
      set(0, in_front, i > 0 ? in_front + 1 : in_front);
      set(2, behind, i < last ? behind + 1 : behind);
    } else {
      set(0, 0, i == 0 ? itself : 0);
      set(2, itself + 1, i == last ? s.output[d] : 0);
    }
  }
  template <typename F>
  __device__ void for_each(const F& f) const {
    for (int part = 0; part < 3; part++) {
      for (int64_t o = begin[part]; o < end[part]; o++) {
        f(o);
      }
    }
  }
};

// grad_input (outer, *s.input, inner), grad_output (outer, *s.output, inner)
template <typename scalar_t>
__global__ void padding_backward_kernel(scalar_t* grad_input, const scalar_t* grad_output, PaddingGeometry s,
                                        int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const PaddedPlace place(i, s.input, s.inner);
    const Copies depths(s, 0, place.d), rows(s, 1, place.h), columns(s, 2, place.w);
    opmath_t sum = 0;
    depths.for_each([&](int64_t d) {
      rows.for_each([&](int64_t h) {
        columns.for_each([&](int64_t w) {
          sum += opmath_t(grad_output[offset_of(place.outer, d, h, w, place.inner, s.output, s.inner)]);
        });
      });
    });
    grad_input[i] = static_cast<scalar_t>(sum);
  }
}

void padding_kernel_cuda(const Tensor& output, const Tensor& input, const PaddingShape& shape) {
  const int64_t n = shape.outer * elements_of(shape.output, shape.inner);
  dispatch<AllNumbers>(input.scalar_type(), shape.op.c_str(), [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(input, n, padding_kernel<scalar_t>, output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                    static_cast<const PaddingGeometry&>(shape), n);
  });
}

void padding_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const PaddingShape& shape) {
  const int64_t n = shape.outer * elements_of(shape.input, shape.inner);
  dispatch<FloatingTypesAndReduced>(grad_output.scalar_type(), shape.op.c_str(), [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(grad_input, n, padding_backward_kernel<scalar_t>, grad_input.data_ptr<scalar_t>(),
                    grad_output.data_ptr<scalar_t>(), static_cast<const PaddingGeometry&>(shape), n);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(padding_stub, padding_kernel_cuda)
REGISTER_CUDA_DISPATCH(padding_backward_stub, padding_backward_kernel_cuda)

} // namespace reftorch::at::native
