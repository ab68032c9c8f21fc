// Mirrors: aten/src/ATen/cuda/CUDAGeneratorImpl.h
//
// The generator of a CUDA device: a seed, and the position in the sequence of Philox numbers. A kernel gets both by
// value, and the host advances the position, so no state is stored on the device. A seed always gives the same numbers.
// They differ from PyTorch's on a GPU, because its kernels assign the counters to elements in another way.
//
// Note [Random numbers in graphs]
// Problem: a kernel gets seed and position by value, so each replay of a graph would draw the same numbers. Trick: a
// kernel that is captured gets the address of two numbers on the device, the seed and the position at the beginning of
// the replay, and by value only its own position relative to that. Before a replay, the host writes the two numbers and
// moves the generator on by what the whole graph draws. So the replays draw the numbers that the same ops draw without
// a graph. Limits: the two numbers are shared by all graphs, so replays of graphs that draw must not overlap.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace reftorch::at {

// The state with which a kernel draws. In a graph, the seed is *seed_extragraph, and the offset counts from
// *offset_extragraph: see philox::unpack. The offset counts groups of four numbers.
struct PhiloxCudaState {
  uint64_t seed, offset;
  const int64_t* seed_extragraph = nullptr;
  const int64_t* offset_extragraph = nullptr; // counts numbers
};

namespace cuda::philox {

// Returns the state in which seed and offset are numbers. For kernels.
C10_HOST_DEVICE inline PhiloxCudaState unpack(const PhiloxCudaState& state) {
  if (state.seed_extragraph == nullptr) {
    return state;
  }
  return {static_cast<uint64_t>(*state.seed_extragraph),
          static_cast<uint64_t>(*state.offset_extragraph) / 4 + state.offset};
}

} // namespace cuda::philox

struct TORCH_API CUDAGeneratorImpl final : public c10::GeneratorImpl {
  explicit CUDAGeneratorImpl(c10::DeviceIndex device) : GeneratorImpl(c10::Device(c10::kCUDA, device)) {}
  static c10::DeviceType device_type() {
    return c10::kCUDA;
  }

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  c10::intrusive_ptr<c10::GeneratorImpl> clone() const override;

  // Returns a generator that draws from the same state as this one: both go on where the other one stopped.
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;
  // Lets this generator draw from the state of another one. In a capture, too: nothing is read on the host.
  void graphsafe_set_state(const c10::GeneratorImpl& other) override;
  bool has_state_of(const CUDAGeneratorImpl& other) const {
    return state_ == other.state_;
  }

  // Returns the state for a kernel in which each thread uses at most `increment` counters of four numbers, and advances
  // the position. The caller holds mutex_. Raises an Error if the current stream captures a graph that does not know
  // this generator.
  PhiloxCudaState philox_cuda_state(uint64_t increment);

  // For CUDAGraph; see Note [Random numbers in graphs]. The caller holds mutex_.
  void register_graph(); // before a capture
  void unregister_graph();
  void capture_prologue();
  uint64_t capture_epilogue(); // returns how many numbers the graph draws
  void replay_prologue(uint64_t wholegraph_increment);

 private:
  struct State {
    uint64_t seed_ = c10::default_rng_seed_val;
    uint64_t offset_ = 0;
    int registered_graphs_ = 0;
    bool capturing_ = false;
    uint64_t offset_intragraph_ = 0;
    Tensor seed_extragraph_, offset_extragraph_; // defined while graphs are registered
  };
  std::shared_ptr<State> state_ = std::make_shared<State>(); // shared after graphsafe_get_state
};

} // namespace reftorch::at

namespace reftorch::at::cuda::detail {

// An index of -1 means the current device.
TORCH_API Generator getDefaultCUDAGenerator(c10::DeviceIndex device = -1);
TORCH_API Generator createCUDAGenerator(c10::DeviceIndex device = -1);

} // namespace reftorch::at::cuda::detail
