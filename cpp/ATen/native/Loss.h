// Mirrors: aten/src/ATen/core/Reduction.h
// What a loss function returns: each sample's loss, their mean, or their sum.
#pragma once

#include <cstdint>

namespace reftorch::at::Reduction {

enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

} // namespace reftorch::at::Reduction
