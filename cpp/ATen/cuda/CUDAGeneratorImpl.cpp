// Mirrors: aten/src/ATen/cuda/CUDAGeneratorImpl.cpp
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <ATen/EmptyTensor.h>
#include <ATen/HostData.h>
#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstring>

namespace reftorch::at {

void CUDAGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t CUDAGeneratorImpl::seed() {
  const uint64_t value = c10::detail::getNonDeterministicRandom();
  set_current_seed(value);
  return value;
}

void CUDAGeneratorImpl::set_offset(uint64_t offset) {
  TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
  offset_ = offset;
}

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
  const PhiloxCudaState state{seed_,
                              offset_ / 4}; // the offset counts numbers, as in PyTorch; the state counts groups of four
  offset_ += 4 * increment;
  return state;
}

// The state consists of the seed and the offset, as in PyTorch.
c10::intrusive_ptr<c10::TensorImpl> CUDAGeneratorImpl::get_state() const {
  const uint64_t state[2] = {seed_, offset_};
  const Tensor bytes = detail::empty_generic(int64_t(sizeof state), c10::kByte);
  std::memcpy(host_data(bytes, "get_state"), state, sizeof state);
  return bytes.impl_;
}

void CUDAGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  uint64_t state[2];
  const auto nbytes = static_cast<size_t>(new_state.numel()) * new_state.itemsize();
  TORCH_CHECK(nbytes == sizeof state, "RNG state is wrong size");
  std::memcpy(state, host_data(new_state, "set_state"), sizeof state);
  set_offset(state[1]);
  seed_ = state[0];
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::clone() const {
  auto copy = c10::make_intrusive<CUDAGeneratorImpl>(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

} // namespace reftorch::at

namespace reftorch::at::cuda::detail {

static c10::DeviceIndex checked_index(c10::DeviceIndex device) {
  c10::cuda::device_count_ensure_non_zero();
  device = device == -1 ? c10::cuda::current_device() : device;
  TORCH_CHECK(device >= 0 && device < c10::cuda::device_count(), "invalid device index ", static_cast<int>(device));
  return device;
}

Generator getDefaultCUDAGenerator(c10::DeviceIndex device) {
  device = checked_index(device);
  const auto make = [device] { return c10::make_intrusive<CUDAGeneratorImpl>(device); };
  return {c10::cuda::CUDADevice::get(device).default_generator(make)};
}

Generator createCUDAGenerator(c10::DeviceIndex device) {
  return {c10::make_intrusive<CUDAGeneratorImpl>(checked_index(device))};
}

} // namespace reftorch::at::cuda::detail
