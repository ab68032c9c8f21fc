// Mirrors: aten/src/ATen/core/Reduction.h
//
// The values of `reduction`: a loss function returns the loss of each sample, their mean, or their sum.
#pragma once

#include <cstdint>

namespace reftorch::at::Reduction {

enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

} // namespace reftorch::at::Reduction
