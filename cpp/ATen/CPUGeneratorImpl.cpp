// Mirrors: aten/src/ATen/CPUGeneratorImpl.cpp
#include <ATen/CPUGeneratorImpl.h>

#include <ATen/EmptyTensor.h>
#include <ATen/HostData.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace reftorch::at {

void CPUGeneratorImpl::set_current_seed(uint64_t seed) {
  next_float_normal_sample_.reset();
  next_double_normal_sample_.reset();
  engine_ = mt19937(seed);
}

uint64_t CPUGeneratorImpl::seed() {
  const uint64_t value = c10::detail::getNonDeterministicRandom();
  set_current_seed(value);
  return value;
}

void CPUGeneratorImpl::set_offset(uint64_t) {
  TORCH_CHECK(false, "CPU Generator does not use offset");
}

uint64_t CPUGeneratorImpl::get_offset() const {
  TORCH_CHECK(false, "CPU Generator does not use offset");
}

namespace {

// The state as bytes, with PyTorch's layout, so that each library can load a state that the other library saved.
struct GeneratorState {
  uint64_t seed;
  int32_t left;
  int32_t seeded; // always 1
  uint64_t next;
  uint64_t engine[mt19937::kStateSize];
  double unused;
  double normal_double; // the second of two normal numbers, kept for the next draw
  double unused_too;
  int32_t has_double;
  float normal_float;
  bool has_float;
};
constexpr size_t kStateBytes = 5056;
static_assert(sizeof(GeneratorState) == kStateBytes, "PyTorch's states have another size");

} // namespace

c10::intrusive_ptr<c10::TensorImpl> CPUGeneratorImpl::get_state() const {
  GeneratorState state;
  std::memset(&state, 0, sizeof(state));
  state.seed = engine_.seed_;
  state.left = engine_.left_;
  state.seeded = 1;
  state.next = engine_.next_;
  std::copy(engine_.state_.begin(), engine_.state_.end(), state.engine);
  state.has_double = next_double_normal_sample_.has_value();
  state.has_float = next_float_normal_sample_.has_value();
  state.normal_double = next_double_normal_sample_.value_or(0);
  state.normal_float = next_float_normal_sample_.value_or(0);
  const Tensor bytes = detail::empty_generic(int64_t(kStateBytes), c10::kByte);
  std::memcpy(host_data(bytes, "get_state"), &state, sizeof(state));
  return bytes.impl_;
}

void CPUGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  const auto nbytes = static_cast<size_t>(new_state.numel()) * new_state.itemsize();
  TORCH_CHECK(nbytes == kStateBytes, "Expected a CPUGeneratorImplState of size ", kStateBytes,
              " but found the input RNG state size to be ", nbytes);
  GeneratorState state;
  std::memcpy(&state, host_data(new_state, "set_state"), sizeof(state));
  // The number of draws left and the index of the next draw must fit the array, because drawing would otherwise read
  // past its end.
  TORCH_CHECK(state.seeded == 1 && state.left > 0 && state.next <= mt19937::kStateSize &&
                  state.left + static_cast<int64_t>(state.next) <= mt19937::kStateSize + 1,
              "Invalid mt19937 state");
  engine_.seed_ = state.seed;
  engine_.left_ = state.left;
  engine_.next_ = static_cast<uint32_t>(state.next);
  std::transform(std::begin(state.engine), std::end(state.engine), engine_.state_.begin(),
                 [](uint64_t word) { return static_cast<uint32_t>(word); });
  next_double_normal_sample_ = state.has_double ? std::optional<double>(state.normal_double) : std::nullopt;
  next_float_normal_sample_ = state.has_float ? std::optional<float>(state.normal_float) : std::nullopt;
}

c10::intrusive_ptr<c10::GeneratorImpl> CPUGeneratorImpl::clone() const {
  auto copy = c10::make_intrusive<CPUGeneratorImpl>();
  copy->engine_ = engine_;
  copy->next_double_normal_sample_ = next_double_normal_sample_;
  copy->next_float_normal_sample_ = next_float_normal_sample_;
  return copy;
}

const Generator& default_cpu_generator() {
  static const Generator generator{c10::make_intrusive<CPUGeneratorImpl>()};
  return generator;
}

} // namespace reftorch::at
