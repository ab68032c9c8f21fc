// Mirrors: aten/src/ATen/native/Repeat.cpp (compute_cpu, which PyTorch keeps beside the op)
#include <ATen/native/Repeat.h>

#include <ATen/Dispatch.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

template <typename index_t>
int64_t sum_of_repeats(const Tensor& repeats) {
  const index_t* counts = repeats.data_ptr<index_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); i++) {
    TORCH_CHECK(counts[i] >= 0, "repeats can not be negative");
    TORCH_CHECK(!__builtin_add_overflow(total, static_cast<int64_t>(counts[i]), &total),
                "repeat_interleave: the sum of repeats is more than a tensor can hold");
  }
  return total;
}

void repeat_interleave_size_kernel(const Tensor& repeats, int64_t& total) {
  total = repeats.scalar_type() == kLong ? sum_of_repeats<int64_t>(repeats) : sum_of_repeats<int32_t>(repeats);
}

template <typename index_t>
void write_places(const Tensor& result, const Tensor& repeats) {
  const index_t* counts = repeats.data_ptr<index_t>();
  index_t* place = result.data_ptr<index_t>();
  for (int64_t i = 0; i < repeats.numel(); i++) {
    place = std::fill_n(place, counts[i], static_cast<index_t>(i));
  }
}

void repeat_interleave_kernel(const Tensor& result, const Tensor& repeats) {
  if (repeats.scalar_type() == kLong) {
    write_places<int64_t>(result, repeats);
  } else {
    write_places<int32_t>(result, repeats);
  }
}

} // namespace

REGISTER_CPU_DISPATCH(repeat_interleave_size_stub, repeat_interleave_size_kernel)
REGISTER_CPU_DISPATCH(repeat_interleave_stub, repeat_interleave_kernel)

} // namespace reftorch::at::native
