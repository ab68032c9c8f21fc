// Mirrors: c10/core/GeneratorImpl.h
//
// A source of random numbers. There is one derived class for each type of device. This base class has what all of them
// share, the seed and the state; only the kernels of a device know how numbers are drawn. Left out: graph-safe state.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/Mutex.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>

namespace reftorch::c10 {

constexpr uint64_t default_rng_seed_val = 67280421310721;

// A generator is not safe for use by two threads at once. Hold `mutex_` while numbers are drawn, and while the state is
// read or set.
struct C10_API GeneratorImpl : public intrusive_ptr_target {
  explicit GeneratorImpl(Device device) : device_(device) {}

  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  // Sets the seed from the operating system's entropy and returns that seed.
  virtual uint64_t seed() = 0;
  // The number of draws so far. Raises RuntimeError for a generator that does not count its draws.
  virtual void set_offset(uint64_t offset) = 0;
  virtual uint64_t get_offset() const = 0;
  // The state is a tensor of bytes on the CPU, with PyTorch's layout. set_state raises RuntimeError if the bytes are
  // not a valid state.
  virtual void set_state(const TensorImpl& new_state) = 0;
  virtual intrusive_ptr<TensorImpl> get_state() const = 0;
  // Returns an independent generator with an equal state.
  virtual intrusive_ptr<GeneratorImpl> clone() const = 0;
  // A generator that shares the state of this one, and taking over the state of another generator without a copy. Both
  // raise NotImplementedError for a device without graphs.
  virtual intrusive_ptr<GeneratorImpl> graphsafe_get_state() const;
  virtual void graphsafe_set_state(const GeneratorImpl& other);

  Device device() const {
    return device_;
  }

  Mutex mutex_;

 private:
  Device device_;
};

namespace detail {

// Returns 53 bits from the operating system, because a double holds an integer of 53 bits exactly.
C10_API uint64_t getNonDeterministicRandom();

} // namespace detail
} // namespace reftorch::c10
