// Mirrors: aten/src/ATen/cuda/Sleep.h
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace reftorch::at::cuda {

// Lets the current stream do nothing for a number of cycles of its device. A cycle of a simulated device takes a
// nanosecond. Tests make a stream late in this way.
TORCH_API void sleep(int64_t cycles);

} // namespace reftorch::at::cuda
