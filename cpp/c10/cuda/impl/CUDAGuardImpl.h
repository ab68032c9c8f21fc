// Mirrors: c10/cuda/impl/CUDAGuardImpl.h
//
// The CUDA implementation of the functions that the core's guards, streams and events call: see
// DeviceGuardImplInterface.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace reftorch::c10::cuda::impl {

struct CUDAGuardImpl final : c10::impl::DeviceGuardImplInterface {
  DeviceType type() const override {
    return DeviceType::CUDA;
  }
  Device exchangeDevice(Device device) const override {
    return Device(DeviceType::CUDA, exchange_device(device.index()));
  }
  Device getDevice() const override {
    return Device(DeviceType::CUDA, current_device());
  }
  void setDevice(Device device) const override {
    set_device(device.index());
  }
  void uncheckedSetDevice(Device device) const noexcept override {
    C10_CUDA_IGNORE_ERROR(cudaSetDevice(device.index()));
  }
  DeviceIndex deviceCount() const noexcept override {
    return device_count();
  }

  Stream getStream(Device device) const override {
    return getCurrentCUDAStream(device.index());
  }
  Stream getDefaultStream(Device device) const override {
    return getDefaultCUDAStream(device.index());
  }
  Stream getStreamFromGlobalPool(Device device, bool /*is_high_priority*/) const override {
    return getStreamFromPool(device.index());
  }
  Stream getNewStream(Device device, int /*priority*/) const override {
    return getStreamFromPool(device.index());
  }
  Stream exchangeStream(Stream stream) const override {
    const CUDAStream former = getCurrentCUDAStream(stream.device_index());
    setCurrentCUDAStream(CUDAStream(stream));
    return former;
  }
  bool queryStream(const Stream& stream) const override {
    return CUDAStream(stream).query();
  }
  void synchronizeStream(const Stream& stream) const override {
    CUDAStream(stream).synchronize();
  }
  void synchronizeDevice(DeviceIndex index) const override;
  bool isStreamCapturing(const Stream& stream) const override;

  void createEvent(void** event, DeviceIndex index, EventFlag flag) const override;
  void destroyEvent(void* event, DeviceIndex index) const noexcept override;
  void record(void** event, const Stream& stream, DeviceIndex index, EventFlag flag) const override;
  void block(void* event, const Stream& stream, EventFlag flag) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  double elapsedTime(void* event1, void* event2, DeviceIndex index) const override;

  void recordDataPtrOnStream(const DataPtr& data_ptr, const Stream& stream) const override;
};

} // namespace reftorch::c10::cuda::impl
