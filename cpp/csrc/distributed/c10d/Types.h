// Mirrors: torch/csrc/distributed/c10d/Types.hpp
//
// The operations of reductions, and the options of collectives. Left out: sparse tensors, PREMUL_SUM, devices.
#pragma once

#include <csrc/distributed/c10d/Utils.h>

#include <cstdint>
#include <string>

namespace reftorch::c10d {

enum class ReduceOp : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };
const char* toString(ReduceOp op);

enum class DebugLevel : uint8_t { Off, Info, Detail };

// Stands for the timeout of the group.
constexpr Milliseconds kUnsetTimeout{-1};

// Options of every collective.
struct CollectiveOptions {
  Milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
  // The line of the program that calls the collective, "train.py:31": mistakes are reported with it.
  std::string place;
};

struct AllreduceOptions : CollectiveOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
};
struct AllreduceCoalescedOptions : AllreduceOptions {};
struct ReduceScatterOptions : CollectiveOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
};
// rootRank is a rank of the group, not of the whole job.
struct RootedOptions : CollectiveOptions {
  int64_t rootRank = 0;
};
struct ReduceOptions : RootedOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
};
struct BroadcastOptions : RootedOptions {};
struct GatherOptions : RootedOptions {};
struct ScatterOptions : RootedOptions {};
struct AllgatherOptions : CollectiveOptions {};
struct AllToAllOptions : CollectiveOptions {};
struct BarrierOptions : CollectiveOptions {
  int device = -1; // on which the barrier of NCCL runs; the backend chooses one for -1
};

} // namespace reftorch::c10d
