// Mirrors: aten/src/ATen/CPUGeneratorImpl.h
//
// The generator of the CPU: mt19937. It also keeps the second number of a pair of normal numbers for the next draw.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/MT19937RNGEngine.h>

#include <cstdint>
#include <optional>

namespace reftorch::at {

struct TORCH_API CPUGeneratorImpl final : public c10::GeneratorImpl {
  explicit CPUGeneratorImpl(uint64_t seed = c10::default_rng_seed_val)
      : GeneratorImpl(c10::Device(c10::kCPU)), engine_(seed) {}
  static c10::DeviceType device_type() {
    return c10::kCPU;
  }

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override {
    return engine_.seed_;
  }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  c10::intrusive_ptr<c10::GeneratorImpl> clone() const override;

  uint32_t random() {
    return engine_();
  }
  uint64_t random64() { // two draws: the first is the high half
    const uint64_t high = engine_();
    return (high << 32) | engine_();
  }

  mt19937 engine_;
  std::optional<float> next_float_normal_sample_;
  std::optional<double> next_double_normal_sample_;
};

TORCH_API const Generator& default_cpu_generator();

} // namespace reftorch::at
