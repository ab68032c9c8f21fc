// Mirrors: aten/src/ATen/cuda/CUDAGeneratorImpl.h
//
// The generator of a CUDA device: a seed, and the position in the sequence of Philox numbers. A kernel gets both by
// value, and the host advances the position, so no state is stored on the device. A seed always gives the same numbers.
// They differ from PyTorch's on a GPU, because its kernels assign the counters to elements in another way. Left out:
// graph capture.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>

namespace reftorch::at {

// The state with which a kernel draws.
struct PhiloxCudaState {
  uint64_t seed, offset;
};

struct TORCH_API CUDAGeneratorImpl final : public c10::GeneratorImpl {
  explicit CUDAGeneratorImpl(c10::DeviceIndex device) : GeneratorImpl(c10::Device(c10::kCUDA, device)) {}
  static c10::DeviceType device_type() {
    return c10::kCUDA;
  }

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override {
    return seed_;
  }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override {
    return offset_;
  }
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  c10::intrusive_ptr<c10::GeneratorImpl> clone() const override;

  // Returns the state for a kernel in which each thread uses at most `increment` counters of four numbers, and advances
  // the position. The caller holds mutex_.
  PhiloxCudaState philox_cuda_state(uint64_t increment);

 private:
  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

} // namespace reftorch::at

namespace reftorch::at::cuda::detail {

// An index of -1 means the current device.
TORCH_API Generator getDefaultCUDAGenerator(c10::DeviceIndex device = -1);
TORCH_API Generator createCUDAGenerator(c10::DeviceIndex device = -1);

} // namespace reftorch::at::cuda::detail
