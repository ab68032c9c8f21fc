// Mirrors: c10/core/GeneratorImpl.h
//
// A source of random numbers, one class for each type of device. What is common to all of them is the seed and the
// state; how numbers are drawn is known to the device's kernels alone.
// Left out: graph-safe state.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/Mutex.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>

namespace reftorch::c10 {

constexpr uint64_t default_rng_seed_val = 67280421310721;

// A generator is not safe for two threads at once: hold `mutex_` while drawing, and while reading or setting the state.
struct C10_API GeneratorImpl : public intrusive_ptr_target {
  explicit GeneratorImpl(Device device) : device_(device) {}

  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  // Takes a seed from the operating system's entropy; returns it.
  virtual uint64_t seed() = 0;
  // The place in the sequence, for generators that count their draws. RuntimeError for others.
  virtual void set_offset(uint64_t offset) = 0;
  virtual uint64_t get_offset() const = 0;
  // The state is a tensor of bytes on the CPU, laid out as PyTorch's. RuntimeError for bytes that are no state.
  virtual void set_state(const TensorImpl& new_state) = 0;
  virtual intrusive_ptr<TensorImpl> get_state() const = 0;
  // An independent generator in the same state.
  virtual intrusive_ptr<GeneratorImpl> clone() const = 0;

  Device device() const {
    return device_;
  }

  Mutex mutex_;

 private:
  Device device_;
};

namespace detail {

// 53 bits from the operating system: a seed that a double holds exactly.
C10_API uint64_t getNonDeterministicRandom();

} // namespace detail
} // namespace reftorch::c10
