// Mirrors: aten/src/ATen/DLConvertor.cpp
//
// Left out: conversions of dtypes.
#include <ATen/DLConvertor.h>

#include <ATen/TensorUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Geometry.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <iterator>
#include <memory>
#include <string>

namespace reftorch::at {

static DLDataType getDLDataType(c10::ScalarType type) {
  DLDataTypeCode code = kDLFloat;
  if (type == c10::kBool) {
    code = kDLBool;
  } else if (type == c10::kBFloat16) {
    code = kDLBfloat;
  } else if (c10::isIntegralType(type, /*includeBool=*/false)) {
    code = c10::isSignedType(type) ? kDLInt : kDLUInt;
  }
  return {code, static_cast<uint8_t>(8 * c10::elementSize(type)), 1};
}

static c10::ScalarType toScalarType(const DLDataType& dtype) {
  TORCH_CHECK(dtype.lanes == 1, "PyTorch does not support lanes != 1: got ", dtype.lanes);
  for (const c10::ScalarType type : {c10::kByte, c10::kChar, c10::kShort, c10::kInt, c10::kLong, c10::kHalf,
                                     c10::kFloat, c10::kDouble, c10::kBool, c10::kBFloat16}) {
    const DLDataType ours = getDLDataType(type);
    if (ours.code == dtype.code && ours.bits == dtype.bits) {
      return type;
    }
  }
  const char* const names[] = {"kInt", "kUInt", "kFloat", "kOpaqueHandle", "kBfloat", "kComplex", "kBool"};
  const std::string name = dtype.code < std::size(names) ? names[dtype.code] : "code " + std::to_string(dtype.code);
  TORCH_CHECK(false, "Unsupported ", name, " bits ", std::to_string(dtype.bits));
  return c10::ScalarType::Undefined;
}

// Raises RuntimeError for a tensor on the device meta, which has no memory to exchange.
static DLDevice torchDeviceToDLDevice(c10::Device device) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "Cannot pack tensors on ", device);
  return device.is_cpu() ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, device.index()};
}

// Raises RuntimeError for a device that this process does not have.
static c10::Device dlDeviceToTorchDevice(const DLDevice& device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) {
    return c10::Device(c10::DeviceType::CPU);
  }
  TORCH_CHECK(device.device_type == kDLCUDA, "Unsupported device_type: ", std::to_string(device.device_type),
              ". Hint: bring the array to the CPU first.");
  const int count = c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount();
  TORCH_CHECK(device.device_id >= 0 && device.device_id < count, "from_dlpack: the memory is on CUDA device ",
              device.device_id, ", but there are ", count, " devices");
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device.device_id));
}

// Owns the managed tensor, the arrays that it points to, and the tensor that keeps the memory alive.
template <typename Managed>
struct ATenDLMTensor {
  Tensor handle;
  c10::DimVector shape, strides;
  Managed tensor{};
};

template <typename Managed>
static Managed* manage(const Tensor& src) {
  const DLDevice device = torchDeviceToDLDevice(src.device());
  auto holder = std::make_unique<ATenDLMTensor<Managed>>();
  src.storage().storage_impl_->resizable_ = false; // the consumer keeps the address, so the memory must not move
  holder->handle = src;
  holder->shape = c10::DimVector(src.sizes());
  holder->strides = c10::DimVector(src.strides());
  Managed& managed = holder->tensor;
  managed.manager_ctx = holder.get();
  managed.deleter = [](Managed* self) { delete static_cast<ATenDLMTensor<Managed>*>(self->manager_ctx); };
  managed.dl_tensor = {src.data_ptr(),
                       device,
                       static_cast<int32_t>(src.dim()),
                       getDLDataType(src.scalar_type()),
                       holder->shape.data(),
                       holder->strides.data(),
                       0};
  return &holder.release()->tensor;
}

DLManagedTensor* toDLPack(const Tensor& src) {
  return manage<DLManagedTensor>(src);
}

DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src, bool is_copied) {
  auto* managed = manage<DLManagedTensorVersioned>(src);
  managed->version = {kDLPackMajorVersion, kDLPackMinorVersion};
  managed->flags = is_copied ? kDLPackFlagIsCopied : 0;
  return managed;
}

template <typename Managed>
static Tensor from_managed(Managed* src) {
  const DLTensor& dl_tensor = src->dl_tensor;
  const c10::Device device = dlDeviceToTorchDevice(dl_tensor.device);
  const c10::ScalarType dtype = toScalarType(dl_tensor.dtype);
  TORCH_CHECK(dl_tensor.ndim >= 0, "from_dlpack: expected at least 0 dimensions, got ", dl_tensor.ndim);
  TORCH_CHECK(dl_tensor.ndim == 0 || dl_tensor.shape != nullptr, "from_dlpack: the capsule has no shape");
  const c10::IntArrayRef sizes(dl_tensor.shape, static_cast<size_t>(dl_tensor.ndim));
  const c10::DimVector strides =
      dl_tensor.strides == nullptr
          ? detail::contiguous_strides(sizes)
          : c10::DimVector(c10::IntArrayRef(dl_tensor.strides, static_cast<size_t>(dl_tensor.ndim)));
  for (const int64_t stride : strides) {
    TORCH_CHECK(stride >= 0,
                "from_dlpack: a stride is negative, and tensors with negative strides are not supported. Hint: "
                "make a copy of the array first.");
  }
  const size_t nbytes = c10::check_geometry(sizes, strides, 0, c10::elementSize(dtype));
  TORCH_CHECK(nbytes == 0 || dl_tensor.data != nullptr, "from_dlpack: the capsule has elements but no memory");
  // From here on nothing raises. After an error the caller still owns `src`, and the destructor of `data_ptr` would
  // free it.
  c10::DataPtr data_ptr(
      static_cast<char*>(dl_tensor.data) + dl_tensor.byte_offset, src,
      [](void* context) {
        auto* self = static_cast<Managed*>(context);
        if (self->deleter != nullptr) {
          self->deleter(self);
        }
      },
      device);
  c10::Storage storage(nbytes, std::move(data_ptr));
  const auto keys = impl::keys_of(device) | c10::autograd_dispatch_keyset;
  Tensor result(c10::make_intrusive<c10::TensorImpl>(std::move(storage), keys, dtype));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, 0);
  return result;
}

Tensor fromDLPack(DLManagedTensor* src) {
  return from_managed(src);
}

Tensor fromDLPackVersioned(DLManagedTensorVersioned* src) {
  TORCH_CHECK(src->version.major <= kDLPackMajorVersion, "Unsupported DLPack version ", src->version.major,
              ": at most ", kDLPackMajorVersion, " is known");
  return from_managed(src);
}

} // namespace reftorch::at
