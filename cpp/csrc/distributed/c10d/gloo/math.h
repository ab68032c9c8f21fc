// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGlooDetail.hpp; gloo/math.h of the library Gloo
//
// The arithmetic of reductions, on plain memory: the thread of a group calls no ops, which would start threads of their
// own, and see autograd and the GIL. Sums of 16-bit floats are rounded after each addition, as in PyTorch.
#pragma once

#include <csrc/distributed/c10d/Types.h>

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>

namespace reftorch::c10d::gloo {

// Throws RuntimeError if numbers of this dtype cannot be reduced by the operation: bits of floats, means of integers.
void check_reduction(ReduceOp op, c10::ScalarType dtype);

// into[i] = into[i] op from[i]; AVG adds.
void reduce(ReduceOp op, c10::ScalarType dtype, void* into, const void* from, int64_t numel);

// Divides each number by `divisor`: the second half of AVG. Integers lose their remainder.
void divide(c10::ScalarType dtype, void* data, int64_t numel, int divisor);

} // namespace reftorch::c10d::gloo
