// Mirrors: aten/src/ATen/native/cuda/Copy.cu, aten/src/ATen/cuda/PeerToPeerAccess.cpp
//
// Copies on one CUDA device, between two devices, and between a device and the host.
//
// Note [Copies between devices]
// CUDA copies bytes without gaps from one device to another. A copy between devices that also changes the dtype or the
// order of dimensions takes three steps: the source is made dense in the destination's dtype on the source's device,
// the bytes are copied, and a destination that is not dense is filled from a dense copy on its own device. On one
// device, a single kernel does all of this. A copy from device to device runs on the current stream of the source's
// device. It waits for the earlier work on the current stream of the destination's device, and later work on that
// stream waits for the copy, as if the copy ran on both streams. A copy between a device and the host runs on the
// current stream of the device. The host waits for the copy, unless the caller asks for non_blocking and the host
// memory is pinned.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/native/Copy.h>
#include <ATen/native/DispatchSize.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CachingHostAllocator.h>
#include <c10/util/LongWork.h>
#include <ATen/native/cuda/Loops.cuh>

#include <mutex>

namespace reftorch::at::native {
namespace {

// Converts between any two dtypes. A conversion to a small integer type keeps the low bits of a large number, as on the
// CPU.
template <typename To, typename From>
C10_HOST_DEVICE To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0.f);
  } else if constexpr (std::is_integral_v<To> && sizeof(To) < 4 && !std::is_integral_v<From>) {
    return static_cast<To>(static_cast<int64_t>(static_cast<opmath_type<From>>(value)));
  } else {
    return static_cast<To>(static_cast<opmath_type<From>>(value));
  }
}

template <typename To>
C10_HOST_DEVICE To load_as(ScalarType dtype, const char* data) {
  switch (dtype) {
    case ScalarType::Byte: return convert<To>(c10::load<uint8_t>(data));
    case ScalarType::Char: return convert<To>(c10::load<int8_t>(data));
    case ScalarType::Short: return convert<To>(c10::load<int16_t>(data));
    case ScalarType::Int: return convert<To>(c10::load<int32_t>(data));
    case ScalarType::Long: return convert<To>(c10::load<int64_t>(data));
    case ScalarType::Half: return convert<To>(c10::load<c10::Half>(data));
    case ScalarType::BFloat16: return convert<To>(c10::load<c10::BFloat16>(data));
    case ScalarType::Float: return convert<To>(c10::load<float>(data));
    case ScalarType::Double: return convert<To>(c10::load<double>(data));
    default: return convert<To>(c10::load<bool>(data));
  }
}

// The kernel branches on the source's dtype for each element, so that there is one kernel for each dtype of the
// destination and not one for each pair of dtypes.
template <typename To>
__global__ void convert_kernel(Operands<2> operands, int64_t n, ScalarType from) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t offsets[2];
    operands.offsets(i, offsets);
    *reinterpret_cast<To*>(operands.data[0] + offsets[0]) = load_as<To>(from, operands.at(1, offsets[1]));
  }
}

template <typename word_t>
struct CopyFunctor {
  C10_HOST_DEVICE word_t operator()(word_t x) const {
    return x;
  }
};

void copy_on_one_device(TensorIterator& iter) {
  const int64_t n = iter.numel();
  const c10::cuda::CUDAGuard guard(iter.tensor(0).device().index());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  if (iter.dtype() != iter.input_dtype()) {
    dispatch<AllTypesAndBool>(iter.dtype(), "copy_", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      c10::cuda::launch(convert_kernel<scalar_t>, cuda::grid_size(n, kThreads), kThreads, 0, stream, Operands<2>(iter),
                        n, iter.input_dtype());
    });
  } else if (iter.is_contiguous()) {
    C10_CUDA_CHECK(cudaMemcpyAsync(iter.data_ptr(0), iter.data_ptr(1), n * c10::elementSize(iter.dtype()),
                                   cudaMemcpyDeviceToDevice, stream));
  } else {
    dispatch_size(c10::elementSize(iter.dtype()), [&](auto word) { gpu_kernel(iter, CopyFunctor<decltype(word)>()); });
  }
}

// Copies between two devices. Both tensors are dense and of one dtype.
void copy_peer(const Tensor& dst, const Tensor& src) {
  const c10::DeviceIndex to = dst.device().index(), from = src.device().index();
  const c10::cuda::CUDAGuard guard(from);
  const auto copy_stream = c10::cuda::getCurrentCUDAStream(from), dst_stream = c10::cuda::getCurrentCUDAStream(to);
  c10::Event dst_ready(c10::kCUDA), copied(c10::kCUDA);
  dst_ready.record(dst_stream);
  dst_ready.block(copy_stream);
  C10_CUDA_CHECK(
      cudaMemcpyPeerAsync(dst.data_ptr(), to, src.data_ptr(), from, dst.numel() * dst.itemsize(), copy_stream));
  copied.record(copy_stream);
  copied.block(dst_stream);
}

// Copies between a device and the host. Both tensors are dense and of one dtype.
void copy_host(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const bool to_device = dst.device().is_cuda();
  const c10::cuda::CUDAGuard guard((to_device ? dst : src).device().index());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  TORCH_CHECK(c10::cuda::is_pinned((to_device ? src : dst).storage().storage_impl_->data_ptr_) ||
                  c10::cuda::capture_status(stream) == c10::cuda::CaptureStatus::None,
              "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
              "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True.");
  c10::LongWork::begin(); // a copy of pageable memory waits for the stream
  C10_CUDA_CHECK(cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), dst.numel() * dst.itemsize(),
                                 to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
  if (non_blocking) { // the program may free the pinned memory before the copy is done
    const Tensor& host = to_device ? src : dst;
    c10::cuda::CachingHostAllocator_recordEvent(host.storage().storage_impl_->data_ptr_, stream);
  } else {
    c10::cuda::warn_or_error_on_sync();
    stream.synchronize();
  }
}

void copy_kernel_cuda(TensorIterator& iter, bool non_blocking) {
  if (iter.numel() == 0) {
    return;
  }
  const Tensor &dst = iter.tensor(0), &src = iter.tensor(1);
  if (dst.device() == src.device()) {
    copy_on_one_device(iter);
    return;
  }
  if (dst.scalar_type() == src.scalar_type() &&
      iter.is_contiguous()) { // dense with an order of dimensions that both share
    if (dst.device().is_cuda() && src.device().is_cuda()) {
      copy_peer(dst, src);
    } else {
      copy_host(dst, src, non_blocking);
    }
    return;
  }
  if (non_blocking && src.device().is_cpu() && src.scalar_type() != dst.scalar_type()) {
    // The source may be the destination of a copy that still runs, so its bytes are read in the order of the stream,
    // and converted on the device.
    const Tensor bytes = detail::empty_generic(src.sizes(), src.scalar_type(), dst.device());
    Tensor there = bytes, result = dst;
    at::copy_(there, src.contiguous(), /*non_blocking=*/true);
    at::copy_(result, bytes);
    return;
  }
  const Tensor dense_src = cast_to_dtype(src, dst.scalar_type()).contiguous();
  Tensor result = dst;
  if (dst.is_contiguous()) {
    at::copy_(result, dense_src, non_blocking);
  } else {
    Tensor dense_dst = detail::empty_generic(dst.sizes(), dst.scalar_type(), dst.device());
    at::copy_(
        dense_dst, dense_src,
        non_blocking && dst.device().is_cuda()); // if the destination is on the host, the next line reads dense_dst
    at::copy_(result, dense_dst);
  }
}

} // namespace

REGISTER_CUDA_DISPATCH(copy_stub, copy_kernel_cuda)

} // namespace reftorch::at::native
