// Mirrors: nothing in PyTorch: the watcher follows memory, copies, streams and what the host does with pinned memory
#include <c10/cuda/sim/runtime.h>
#include <c10/cuda/sim/watch/Watcher.h>

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace cudasim::watch {

constexpr size_t kMostChecked = 64 << 10; // of a freed block, so many bytes are looked through for uses

// ---- start and stop ------------------------------------------------------------------------------------------------

Watcher& watcher() {
  static auto* const it = new Watcher;
  return *it;
}

void Watcher::forget() {
  order_.clear();
  sites_.clear();
  shadow_.clear();
  allocations_.clear();
  problems_.clear();
  problem_at_.clear();
  launches_.clear();
}

bool Watcher::start(const std::vector<Known>& segments, const std::vector<Known>& blocks, int seconds) {
  if (watching() != nullptr) {
    return false;
  }
  std::vector<Known> known = blocks;
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    for (const Device& device : runtime().devices) {
      for (const auto* allocations : {&device.live, &device.opened}) {
        for (const auto& [begin, bytes] : *allocations) {
          const auto at = reinterpret_cast<uintptr_t>(begin);
          if (std::none_of(segments.begin(), segments.end(), [&](const Known& each) { return each.begin == at; })) {
            known.push_back({at, bytes});
          }
        }
      }
    }
  }
  std::lock_guard<std::mutex> lock(state_);
  forget();
  may_run_ = std::chrono::seconds(seconds);
  for (const Known& each : known) {
    Allocation a;
    a.begin = each.begin;
    a.bytes = each.bytes;
    a.is_trusted = true;
    allocations_.add(std::move(a));
  }
  observer.store(this, std::memory_order_release);
  return true;
}

void Watcher::stop() {
  observer.store(nullptr, std::memory_order_release);
  release_guards();
  std::lock_guard<std::mutex> lock(state_);
  if (!problems_.empty()) {
    for (Device& device : runtime().devices) {
      device.error = cudaSuccess;
    }
  }
}

static StreamKind kind_of(const CUstream_st* stream) {
  return {stream->device->index, stream->blocking, stream->is_default};
}

// ---- memory ------------------------------------------------------------------------------------------------------

void Watcher::allocated(const void* p, size_t bytes) {
  add_allocation(p, bytes, /*is_trusted=*/false);
}

void Watcher::opened(const void* p, size_t bytes) {
  add_allocation(p, bytes, /*is_trusted=*/true);
}

void Watcher::add_allocation(const void* p, size_t bytes, bool is_trusted) {
  std::lock_guard<std::mutex> lock(state_);
  Allocation a;
  a.begin = reinterpret_cast<uintptr_t>(p);
  a.bytes = bytes;
  a.is_trusted = is_trusted;
  a.born = order_.latest();
  shadow_.for_each_used(a.begin, a.begin + bytes, [](uintptr_t, Word& word) {
    word.written = 0;
    word.loads = word.stores = 0;
  });
  allocations_.add(std::move(a));
}

void Watcher::freed(const void* p) {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  {
    std::lock_guard<std::mutex> lock(guards_mutex_);
    guards_.erase(std::remove_if(guards_.begin(), guards_.end(), [&](const Guard& g) { return g.begin == begin; }),
                  guards_.end());
  }
  std::lock_guard<std::mutex> lock(state_);
  allocations_.end(begin, order_.latest());
}

void Watcher::block_freed(const void* p, const CUstream_st* stream, bool shared) {
  std::lock_guard<std::mutex> lock(state_);
  const auto begin = reinterpret_cast<uintptr_t>(p);
  Allocation* a = allocations_.find_beginning(begin);
  if (a == nullptr) {
    return;
  }
  a->stream = stream;
  a->waits_for_others = shared;
  a->at_free = order_.clock_of(stream);
  // Looks at the operations that have run. Those that are in the queues are checked when they use the block.
  shadow_.for_each_used(begin, begin + std::min(a->bytes, kMostChecked), [&](uintptr_t, Word& word) {
    for (const Seen* seen : {&word.write, &word.reads[0], &word.reads[1]}) {
      if (seen->operation > a->born) {
        check_use_after_free(*a, seen->operation, seen->site);
      }
    }
  });
  allocations_.end(begin, order_.latest());
}

// A freed block goes to the next owner on its stream at once. So its stream must have waited by then for each operation
// of another stream that used the block, or record_stream must have named that stream. Whether the memory is really
// reused too early is chance; this check does not depend on it.
void Watcher::check_use_after_free(const Allocation& a, uint32_t operation, uint32_t site) {
  if (a.stream == nullptr || a.waits_for_others || operation == 0) {
    return;
  }
  const Order::Operation used_by = order_.operation(operation);
  if (used_by.stream == a.stream || order_.covers(a.at_free, operation)) {
    return;
  }
  const std::string name = a.arrays.empty() ? "a tensor of " + std::to_string(a.bytes) + " bytes" : a.arrays[0].name;
  say({"memory is freed while another stream uses it", used_by.what, name, describe_operation(operation), "",
       "the program did not call record_stream, and the memory's own stream has not waited for the operation", site});
}

template <typename F>
void Watcher::use(uintptr_t begin, size_t bytes, bool writes, uint32_t operation, const F& report) {
  for (uintptr_t at = begin / kWord * kWord; at < begin + bytes; at += kWord) {
    Word& word = shadow_.at(at);
    Seen now;
    now.operation = operation;
    now.bytes = bytes_of_word(at, begin, begin + bytes);
    for (const Seen* seen : {&word.write, &word.reads[0], &word.reads[1]}) {
      const bool was_write = seen == &word.write;
      if ((writes || was_write) && (seen->bytes & now.bytes) != 0 && !order_.before(seen->operation, operation)) {
        report(*seen, was_write, at);
      }
    }
    if (writes) {
      word.write = now;
      word.written |= now.bytes;
    } else {
      word.reads[1] = word.reads[0];
      word.reads[0] = now;
    }
  }
}

// A copy, a memset or a product of cuBLAS is one access by its operation.
void Watcher::range(const void* p, size_t bytes, bool writes, unsigned long operation) {
  if (!wants_grids()) {
    return;
  }
  std::lock_guard<std::mutex> lock(state_);
  operation_ = static_cast<uint32_t>(operation);
  kernel_ = order_.operation(operation_).what;
  use(reinterpret_cast<uintptr_t>(p), bytes, writes, operation_, [&](const Seen& seen, bool was_write, uintptr_t at) {
    report_conflict(!was_write ? "a write and a read" : writes ? "two writes" : "a read and a write", seen, 0, at);
  });
  operation_ = 0;
}

std::pair<uint32_t, std::vector<Conflict>> Watcher::op(const CUstream_st* stream, const std::string& what,
                                                       const std::vector<Known>& reads,
                                                       const std::vector<Known>& writes) {
  std::lock_guard<std::mutex> lock(state_);
  const uint32_t number = order_.enqueue(stream, kind_of(stream), what);
  std::vector<Conflict> conflicts;
  for (const auto* ranges : {&reads, &writes}) {
    for (const Known& range : *ranges) {
      bool is_first = true;
      use(range.begin, range.bytes, ranges == &writes, number, [&](const Seen& seen, bool was_write, uintptr_t) {
        if (is_first) {
          conflicts.push_back({range.begin, seen.operation, was_write});
        }
        is_first = false;
      });
    }
  }
  return {number, conflicts};
}

void Watcher::name(Array array) {
  std::lock_guard<std::mutex> lock(state_);
  if (Allocation* a = allocations_.find(array.begin, array.bytes())) {
    auto& arrays = a->arrays;
    arrays.erase(
        std::remove_if(arrays.begin(), arrays.end(), [&](const Array& each) { return each.begin == array.begin; }),
        arrays.end());
    arrays.push_back(std::move(array));
  }
}

// ---- what orders operations ----------------------------------------------------------------------------------------

unsigned long Watcher::enqueued(const CUstream_st* stream, const char* what) {
  return order_.enqueue(stream, kind_of(stream), what);
}
void Watcher::event_recorded(const CUevent_st* event, const CUstream_st* stream) {
  order_.record(event, stream);
}
void Watcher::stream_waits(const CUstream_st* stream, const CUevent_st* event) {
  order_.stream_waits(stream, event);
}
void Watcher::host_waits_for_stream(const CUstream_st* stream) {
  order_.host_waits_for_stream(stream, kind_of(stream));
  release_guards();
}
void Watcher::host_waits_for_device(int device) {
  order_.host_waits_for_device(device);
  release_guards();
}
void Watcher::host_waits_for_event(const CUevent_st* event) {
  order_.host_waits_for_event(event);
  release_guards();
}

// ---- pinned memory
// ---------------------------------------------------------------------------------------------------

static void protect(uintptr_t begin, uintptr_t end, int access) {
  mprotect(reinterpret_cast<void*>(begin), end - begin, access);
}

// Protects the pages that the host sees. So the first instruction that is too early faults, whatever library it belongs
// to. See Note [Two views of pinned memory].
void Watcher::pinned_copy(const void* host, size_t bytes, bool into_host, unsigned long operation) {
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    if (device_view(host, bytes) == host) {
      return; // the memory is older than the watcher
    }
  }
  std::lock_guard<std::mutex> lock(guards_mutex_);
  const auto at = reinterpret_cast<uintptr_t>(host);
  const Guard guard{at / kPage * kPage, (at + bytes + kPage - 1) / kPage * kPage, into_host,
                    static_cast<uint32_t>(operation)};
  guards_.push_back(guard);
  protect(guard.begin, guard.end, into_host ? PROT_NONE : PROT_READ);
}

void Watcher::release_guards() {
  std::lock_guard<std::mutex> lock(guards_mutex_);
  std::vector<Guard> left;
  for (const Guard& guard : guards_) {
    if (watching() != nullptr && !order_.host_knows(guard.operation)) {
      left.push_back(guard);
    } else {
      protect(guard.begin, guard.end, PROT_READ | PROT_WRITE);
    }
  }
  for (const Guard& guard : left) { // two copies may share a page
    protect(guard.begin, guard.end, guard.into_host ? PROT_NONE : PROT_READ);
  }
  guards_ = std::move(left);
}

bool Watcher::host_fault(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::vector<Guard> touched;
  {
    std::lock_guard<std::mutex> lock(guards_mutex_);
    const auto first = std::stable_partition(guards_.begin(), guards_.end(),
                                             [&](const Guard& g) { return at < g.begin || at >= g.end; });
    touched.assign(first, guards_.end());
    guards_.erase(first, guards_.end());
    for (const Guard& guard : touched) {
      protect(guard.begin, guard.end, PROT_READ | PROT_WRITE);
    }
  }
  if (touched.empty()) {
    return false;
  }
  std::lock_guard<std::mutex> lock(state_);
  const Guard& guard = touched.front();
  say({guard.into_host ? "the host uses pinned memory before a copy has filled it"
                       : "the host overwrites pinned memory before a copy has read it",
       "", "", describe_operation(guard.operation), "", "the host has not waited for the copy"});
  return true;
}

} // namespace cudasim::watch
