// Mirrors: aten/src/ATen/cuda/CUDAGeneratorImpl.cpp
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/HostData.h>
#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>

#include <cstring>

namespace reftorch::at {

// A stream of the simulator cannot capture before somebody has used CUDA, and a program may seed the generators of all
// devices without using one.
static bool captures(const c10::GeneratorImpl& generator) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(generator.device().index());
  return stream.id() != 0 && c10::cuda::capture_status(stream) != c10::cuda::CaptureStatus::None;
}

static void assert_not_capturing(const c10::GeneratorImpl& generator, const char* attempt) {
  TORCH_CHECK(!captures(generator), attempt,
              " during CUDA graph capture. If you need this call to be captured, please file an issue. Current "
              "cudaStreamCaptureStatus: ",
              c10::cuda::capture_status(c10::cuda::getCurrentCUDAStream(generator.device().index())));
}

void CUDAGeneratorImpl::set_current_seed(uint64_t seed) {
  if (captures(*this)) {
    TORCH_CHECK(seed == state_->seed_,
                "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if new seed is the same "
                "as the original seed.");
    return;
  }
  state_->seed_ = seed;
  state_->offset_ = 0;
}

uint64_t CUDAGeneratorImpl::current_seed() const {
  assert_not_capturing(*this, "Cannot call CUDAGeneratorImpl::current_seed");
  return state_->seed_;
}

uint64_t CUDAGeneratorImpl::get_offset() const {
  assert_not_capturing(*this, "Cannot call CUDAGeneratorImpl::get_offset");
  return state_->offset_;
}

uint64_t CUDAGeneratorImpl::seed() {
  assert_not_capturing(*this, "Cannot call CUDAGeneratorImpl::seed");
  const uint64_t value = c10::detail::getNonDeterministicRandom();
  set_current_seed(value);
  return value;
}

void CUDAGeneratorImpl::set_offset(uint64_t offset) {
  assert_not_capturing(*this, "Cannot call CUDAGeneratorImpl::set_offset");
  TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
  state_->offset_ = offset;
}

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
  const uint64_t numbers =
      4 * increment; // state_->offset_ counts numbers, as in PyTorch; the state counts groups of four
  if (captures(*this)) {
    TORCH_CHECK(state_->capturing_, "Attempt to increase offset for a CUDA generator not in capture mode.");
    const PhiloxCudaState state{0, state_->offset_intragraph_ / 4, state_->seed_extragraph_.data_ptr<int64_t>(),
                                state_->offset_extragraph_.data_ptr<int64_t>()};
    state_->offset_intragraph_ += numbers;
    return state;
  }
  TORCH_CHECK(!state_->capturing_, "Offset increment outside graph capture encountered unexpectedly.");
  const PhiloxCudaState state{state_->seed_, state_->offset_ / 4};
  state_->offset_ += numbers;
  return state;
}

void CUDAGeneratorImpl::register_graph() {
  assert_not_capturing(*this, "Cannot register the state during capturing stage.");
  if (state_->registered_graphs_++ == 0) {
    state_->seed_extragraph_ = detail::empty_generic(1, c10::kLong, device());
    state_->offset_extragraph_ = detail::empty_generic(1, c10::kLong, device());
  }
}

void CUDAGeneratorImpl::unregister_graph() {
  if (--state_->registered_graphs_ == 0) {
    state_->seed_extragraph_ = Tensor();
    state_->offset_extragraph_ = Tensor();
  }
}

void CUDAGeneratorImpl::capture_prologue() {
  state_->capturing_ = true;
  state_->offset_intragraph_ = 0;
}

uint64_t CUDAGeneratorImpl::capture_epilogue() {
  state_->capturing_ = false;
  return state_->offset_intragraph_;
}

void CUDAGeneratorImpl::replay_prologue(uint64_t wholegraph_increment) {
  assert_not_capturing(*this, "Cannot prepare for replay during capturing stage.");
  if (wholegraph_increment > 0) {
    at::fill_(state_->seed_extragraph_, static_cast<int64_t>(state_->seed_));
    at::fill_(state_->offset_extragraph_, static_cast<int64_t>(state_->offset_));
    state_->offset_ += wholegraph_increment;
  }
}

// The state consists of the seed and the offset, as in PyTorch.
c10::intrusive_ptr<c10::TensorImpl> CUDAGeneratorImpl::get_state() const {
  const uint64_t state[2] = {state_->seed_, state_->offset_};
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
  state_->seed_ = state[0];
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::clone() const {
  auto copy = c10::make_intrusive<CUDAGeneratorImpl>(device().index());
  copy->state_->seed_ = state_->seed_;
  copy->state_->offset_ = state_->offset_;
  return copy;
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::graphsafe_get_state() const {
  auto other = c10::make_intrusive<CUDAGeneratorImpl>(device().index());
  other->state_ = state_;
  return other;
}

void CUDAGeneratorImpl::graphsafe_set_state(const c10::GeneratorImpl& other) {
  const auto* cuda = dynamic_cast<const CUDAGeneratorImpl*>(&other);
  TORCH_CHECK(cuda != nullptr, "graphsafe_set_state: expected a generator of a CUDA device, but got one on ",
              other.device());
  state_ = cuda->state_;
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
