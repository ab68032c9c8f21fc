// Mirrors: aten/src/ATen/Context.h
//
// The settings of the whole process. Left out: backends, their libraries and their precision, vmap and quantization.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/detail/AcceleratorHooksInterface.h>

#include <cstdint>
#include <optional>

namespace reftorch::at {

class TORCH_API Context {
 public:
  bool deterministicAlgorithms() const {
    return deterministic_algorithms_;
  }
  bool deterministicAlgorithmsWarnOnly() const {
    return deterministic_algorithms_warn_only_;
  }
  void setDeterministicAlgorithms(bool on, bool warn_only) {
    deterministic_algorithms_ = on;
    deterministic_algorithms_warn_only_ = warn_only;
  }
  // Whether `empty` and `resize_` fill new memory with a known value in deterministic mode. Otherwise the memory keeps
  // its old contents.
  bool deterministicFillUninitializedMemory() const {
    return deterministic_fill_uninitialized_memory_;
  }
  void setDeterministicFillUninitializedMemory(bool on) {
    deterministic_fill_uninitialized_memory_ = on;
  }
  // For an op whose result depends on the order in which threads run. In deterministic mode, raises RuntimeError or
  // warns (warn_only).
  void alertNotDeterministic(const char* caller) const {
    if (deterministic_algorithms_) {
      alert(caller);
    }
  }
  // Which ways scaled_dot_product_attention may take: the kernel that works tile by tile, and small operations.
  bool userEnabledFlashSDP() const {
    return enabled_flash_sdp_;
  }
  void setSDPUseFlash(bool on) {
    enabled_flash_sdp_ = on;
  }
  bool userEnabledMathSDP() const {
    return enabled_math_sdp_;
  }
  void setSDPUseMath(bool on) {
    enabled_math_sdp_ = on;
  }
  // Makes denormal floats zero on this thread. Returns false if the processor cannot do this.
  bool setFlushDenormal(bool on);
  // Returns the hooks of a type of device, or of the accelerator if no type is given. Raises RuntimeError if there is
  // none.
  const AcceleratorHooksInterface& getAcceleratorHooksInterface(
      std::optional<c10::DeviceType> type = std::nullopt) const;

 private:
  void alert(const char* caller) const;

  bool deterministic_algorithms_ = false;
  bool deterministic_algorithms_warn_only_ = false;
  bool deterministic_fill_uninitialized_memory_ = true;
  bool enabled_flash_sdp_ = true;
  bool enabled_math_sdp_ = true;
};

TORCH_API Context& globalContext();

} // namespace reftorch::at

namespace reftorch::at::detail {

// In deterministic mode, fills the storage of `t` from byte `first_byte` on with NaN, or with the largest integer.
TORCH_API void fill_uninitialized(const Tensor& t, int64_t first_byte = 0);

} // namespace reftorch::at::detail
