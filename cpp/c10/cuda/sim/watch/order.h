// Mirrors: nothing in PyTorch: which operation of a stream comes before which other one
//
// Note [Clocks of streams]
// Problem: a missing wait between two streams shows in few runs, because the right order often happens by chance.
// Trick: the watcher asks what the program guarantees. Each stream has a vector clock: for every stream, the number of
// its last operation that is known to be done before the next operation of this stream begins. Events and waits of the
// host carry clocks from one to the other. Two operations are ordered if the clock of the later one covers the earlier
// one. So a missing wait is found in every run, also with CUDA_LAUNCH_BLOCKING=1. Limits: waits between threads of the
// host are not seen; all of them count as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct CUstream_st;
struct CUevent_st;

namespace cudasim::watch {

// For each stream, how many of its operations are known to be done.
using Clock = std::map<const CUstream_st*, uint32_t>;

inline void join(Clock& clock, const Clock& other) {
  for (const auto& [stream, ticket] : other) {
    uint32_t& mine = clock[stream];
    mine = std::max(mine, ticket);
  }
}

// What a stream is: see Note [The default stream].
struct StreamKind {
  int device;
  bool blocking, is_default;
  bool waits_for(const StreamKind& other) const {
    return device == other.device && blocking && other.blocking && is_default != other.is_default;
  }
};

// All functions may be called from any thread.
class Order {
 public:
  struct Operation {
    const CUstream_st* stream = nullptr;
    uint32_t ticket = 0;
    Clock before;
    std::string what;
  };

  // Returns the number of the operation. The first one is 1.
  uint32_t enqueue(const CUstream_st* stream, StreamKind kind, const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex_);
    Clock& clock = streams_[stream];
    join(clock, host_);
    kinds_[stream] = kind;
    for (const auto& [other, other_kind] : kinds_) {
      if (kind.waits_for(other_kind)) {
        join(clock, streams_[other]);
      }
    }
    const uint32_t ticket = ++clock[stream];
    operations_.push_back({stream, ticket, clock, what});
    return static_cast<uint32_t>(operations_.size());
  }
  void record(const CUevent_st* event, const CUstream_st* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    Clock& clock = events_[event] = streams_[stream];
    join(clock, host_);
  }
  void stream_waits(const CUstream_st* stream, const CUevent_st* event) {
    std::lock_guard<std::mutex> lock(mutex_);
    join(streams_[stream], events_[event]);
  }
  void host_waits_for_event(const CUevent_st* event) {
    std::lock_guard<std::mutex> lock(mutex_);
    join(host_, events_[event]);
  }
  void host_waits_for_stream(const CUstream_st* stream, StreamKind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    join(host_, streams_[stream]);
    for (const auto& [other, other_kind] : kinds_) {
      if (kind.is_default && kind.waits_for(other_kind)) {
        join(host_, streams_[other]);
      }
    }
  }
  void host_waits_for_device(int device) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [stream, kind] : kinds_) {
      if (kind.device == device) {
        join(host_, streams_[stream]);
      }
    }
  }

  // Returns whether the first operation is done before the second one begins, in every run of the program.
  bool before(uint32_t first, uint32_t second) {
    if (first == second || first == 0 || second == 0) {
      return true;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    return covers_locked(operations_[second - 1].before, first);
  }
  // Returns whether the host has waited for the operation, itself or by way of others.
  bool host_knows(uint32_t operation) {
    std::lock_guard<std::mutex> lock(mutex_);
    return covers_locked(host_, operation);
  }
  // Returns what is known to be done before the next operation of the stream begins.
  Clock clock_of(const CUstream_st* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    Clock clock = streams_[stream];
    join(clock, host_);
    return clock;
  }
  bool covers(const Clock& clock, uint32_t operation) {
    std::lock_guard<std::mutex> lock(mutex_);
    return covers_locked(clock, operation);
  }
  // Returns the number of the operation that was enqueued last.
  uint32_t latest() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<uint32_t>(operations_.size());
  }
  // Returns a copy; for 0, an operation without a name.
  Operation operation(uint32_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return number == 0 ? Operation() : operations_[number - 1];
  }
  void rename(uint32_t number, const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex_);
    operations_[number - 1].what = what;
  }
  // Returns the streams in the order of their first operations. Their places are the numbers that reports show.
  size_t number_of(const CUstream_st* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t number = 0;
    std::vector<const CUstream_st*> met;
    for (const Operation& each : operations_) {
      if (std::find(met.begin(), met.end(), each.stream) == met.end()) {
        number++;
        met.push_back(each.stream);
      }
      if (each.stream == stream) {
        break;
      }
    }
    return number;
  }
  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.clear();
    events_.clear();
    kinds_.clear();
    host_.clear();
    operations_.clear();
  }

 private:
  bool covers_locked(const Clock& clock, uint32_t operation) const {
    if (operation == 0) {
      return true;
    }
    const Operation& it = operations_[operation - 1];
    const auto known = clock.find(it.stream);
    return known != clock.end() && known->second >= it.ticket;
  }

  std::mutex mutex_;
  std::map<const CUstream_st*, Clock> streams_;
  std::map<const CUevent_st*, Clock> events_;
  std::map<const CUstream_st*, StreamKind> kinds_;
  Clock host_;
  std::vector<Operation> operations_;
};

} // namespace cudasim::watch
