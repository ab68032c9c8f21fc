// Mirrors: aten/src/ATen/cuda/CUDAGeneratorImpl.h
//
// A CUDA device's generator: a seed, and how far the sequence of Philox numbers has been used. A kernel is given both
// by value, and the host moves the place on, so that no state lies on the device. The numbers are the same for the same
// seed, but not those of PyTorch on a GPU, whose kernels deal the counters out in another way. Left out: graph capture.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>

namespace reftorch::at {

// What a kernel draws from.
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

  // For a kernel of which each thread uses up to `increment` of the four-number places. Hold mutex_.
  PhiloxCudaState philox_cuda_state(uint64_t increment);

 private:
  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

} // namespace reftorch::at

namespace reftorch::at::cuda::detail {

// -1 is the current device.
TORCH_API const Generator& getDefaultCUDAGenerator(c10::DeviceIndex device = -1);
TORCH_API Generator createCUDAGenerator(c10::DeviceIndex device = -1);

} // namespace reftorch::at::cuda::detail
