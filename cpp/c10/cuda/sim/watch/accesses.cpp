// Mirrors: nothing in PyTorch: the watcher checks each load, store and atomic operation of a kernel
//
// The compiler reports an access before it happens. So a fault is reported even if it ends the kernel.
#include <c10/cuda/sim/runtime.h>
#include <c10/cuda/sim/watch/Watcher.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>

namespace cudasim::watch {

constexpr uintptr_t kNearShared = 4096;
constexpr uintptr_t kDynamicShared = uintptr_t(1) << 20; // where the dynamic part begins, in the addresses of traces

template <typename T>
static bool is_part_of(uintptr_t address, const T& variable) {
  return address - reinterpret_cast<uintptr_t>(&variable) < sizeof(T);
}

// Returns whether this device's kernels may use the memory of a device.
static bool may_use(const Device& device) {
  const Device& own = runtime().devices[static_cast<size_t>(current_device)];
  return &device == &own || (own.peers >> device.index & 1) != 0;
}

// Returns whether there is memory at an address.
static bool is_mapped(uintptr_t address) {
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / kPage * kPage), kPage, &resident) == 0;
}

static std::string after_the_end(uintptr_t distance) {
  return (distance == 0 ? "right" : std::to_string(distance) + " bytes") + " after the end of the block's ";
}

void Watcher::atomic(const void* p, size_t bytes, const void* place) {
  if (running != nullptr && is_instrumented_) {
    access(p, bytes, Kind::Atomic, place);
  }
}

void Watcher::access(const void* p, size_t bytes, Kind kind, const void* place, bool is_volatile) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const bool in_device = device_of(p) != nullptr || device_of(static_cast<const char*>(p) + kNear) != nullptr;
  Range* shared = nullptr;
  // The compiler may report loads of the coordinates although they are const, because dim3 has a constructor.
  if (is_part_of(address, threadIdx) || is_part_of(address, blockIdx) || is_part_of(address, blockDim) ||
      is_part_of(address, gridDim)) {
    return;
  }
  if (!in_device && !in_shared_memory(address, shared)) {
    if (!is_of_the_thread(address) && !is_pinned(address)) {
      report_host_address(address, sites_.site_of(running->path, reinterpret_cast<uintptr_t>(place), kind));
    }
    return;
  }
  const uint32_t id = sites_.site_of(running->path, reinterpret_cast<uintptr_t>(place), kind);
  Site& site = sites_[id];
  site.space = in_device ? Space::Global : Space::Shared;
  site.bytes = static_cast<uint8_t>(bytes);
  site.accesses++;
  const uintptr_t base = shared == nullptr ? 0 : shared->begin - (shared == &dynamic_shared_ ? kDynamicShared : 0);
  append(id, address - base, bytes);
  bool is_initialized = false; // whether all of the memory counts as written
  if (const Device* device = device_of(p); device != nullptr && !may_use(*device)) {
    say({"a kernel uses memory of another device", kernel_,
         describe(address) + ", on device " + std::to_string(device->index) + "; the kernel runs on device " +
             std::to_string(current_device),
         describe_thread(block_, thread_), "", "", id});
    return;
  }
  if (in_device) {
    // CUDA joins an element of one or two bytes within its word, which may reach beyond the end of the array. No block
    // of memory ends inside a word.
    const bool is_word = (kind == Kind::Atomic || is_volatile) && bytes == kWord;
    const Allocation* a = allocations_.find(address, is_word ? 1 : bytes);
    if (a == nullptr || !a->is_for(operation_)) { // see Note [Lifetimes count in operations]
      a = allocations_.find_former(address, is_word ? 1 : bytes, operation_);
      if (a == nullptr) {
        say({"out of bounds", kernel_, describe(address), describe_thread(block_, thread_), "", "", id});
        return;
      }
      check_use_after_free(*a, operation_, id);
      is_initialized = a->is_reused; // the shadow is that of the next owner
    }
    bytes = std::min(bytes, a->begin + a->bytes - address);
    is_initialized = is_initialized || a->is_trusted;
  }
  for (uintptr_t word = address / kWord * kWord; word < address + bytes; word += kWord) {
    Word& seen = in_device                   ? shadow_.at(word)
                 : shared == &static_shared_ ? static_words_[(word - shared->begin) / kWord]
                                             : dynamic_words_[(word - shared->begin) / kWord];
    check_word(seen, bytes_of_word(word, address, address + bytes), kind, is_volatile, id, word, is_initialized);
  }
}

// Returns whether the address is in the block's shared memory, and in which part.
bool Watcher::in_shared_memory(uintptr_t address, Range*& shared) {
  // A library's thread-local variables get their memory when the first of them is used.
  if (static_shared_.begin == 0 && !has_looked_for_shared_ && !is_of_the_thread(address)) {
    has_looked_for_shared_ = true;
    find_shared_variables();
  }
  shared = static_shared_.has(address) ? &static_shared_ : dynamic_shared_.has(address) ? &dynamic_shared_ : nullptr;
  return shared != nullptr;
}

// Returns whether the memory is the thread's own, or constant: these are not watched. Shared memory must be looked for
// first, because glibc keeps the thread-local variables of a host thread at the end of its stack.
bool Watcher::is_of_the_thread(uintptr_t address) const {
  if (stack_.has(address) || arguments_.has(address)) {
    return true;
  }
  for (const Range& module : modules_) {
    if (module.has(address)) { // __constant__ and __device__ variables
      return true;
    }
  }
  return false;
}

// Pinned memory of the host is not watched: a kernel may use it.
bool Watcher::is_pinned(uintptr_t address) const {
  return std::any_of(pinned_.begin(), pinned_.end(), [&](const Range& range) { return range.has(address); });
}

void Watcher::report_host_address(uintptr_t address, uint32_t site) {
  const auto tell = [&](const char* what, const std::string& place) {
    say({what, kernel_, place, describe_thread(block_, thread_), "", "", site});
  };
  const size_t bytes = dynamic_shared_.size();
  if (const uintptr_t after = address - dynamic_shared_.end; after < kNearShared) {
    tell("out of bounds", after_the_end(after) + "dynamic shared memory, which has " + std::to_string(bytes) +
                              " bytes" + (bytes == 0 ? ": the launch must give their number" : ""));
    return;
  }
  if (const uintptr_t after = address - static_shared_.end; static_shared_.size() > 0 && after < kNearShared) {
    tell("out of bounds", after_the_end(after) + "__shared__ variables");
    return;
  }
  char text[40];
  std::snprintf(text, sizeof text, "address %p", reinterpret_cast<void*>(address));
  if (address < kPage) {
    tell("a kernel uses a null pointer", text);
  } else if (is_mapped(address)) {
    tell("a kernel uses memory of the host", text);
  } else {
    tell("out of bounds", std::string(text) + ", where no memory is");
  }
}

// Returns whether the earlier access is done before the present one, whatever the order of threads and streams.
bool Watcher::is_ordered(const Seen& seen) {
  if (seen.operation != operation_) {
    return order_.before(seen.operation, operation_);
  }
  if (seen.block != block_) {
    return false;
  }
  if (seen.thread == thread_ || seen.generation < generation_) {
    return true;
  }
  return seen.thread / 32u == thread_ / 32 && warp_clocks_[thread_ / 32][thread_ % 32][seen.thread % 32] >= seen.clock;
}

// A volatile load counts as atomic: a loop around atomicCAS begins with one, and another thread's atomic operation may
// come at any time between the two. Two volatile stores are no race: a kernel says with them that threads write the
// same value. But a volatile store does not make a value visible to a load at a certain time.
void Watcher::check_word(Word& word, uint8_t mask, Kind kind, bool is_volatile, uint32_t site, uintptr_t address,
                         bool is_initialized) {
  const bool writes = kind != Kind::Load, reads = kind != Kind::Store;
  const bool is_atomic = kind == Kind::Atomic || (kind == Kind::Load && is_volatile);
  if (reads && !is_initialized && (word.written & mask) != mask) {
    say({"a read of memory that nobody has written", kernel_, describe(address), describe_thread(block_, thread_), "",
         "", site});
    word.written |= mask; // reported once
  }
  const auto conflicts = [&](const Seen& seen) {
    return seen.operation != 0 && (seen.bytes & mask) != 0 && !(seen.atomic && is_atomic) && !is_ordered(seen);
  };
  const bool is_volatile_store = kind == Kind::Store && is_volatile;
  if (conflicts(word.write) && !(is_volatile_store && word.write.volatile_store)) {
    report_conflict(writes ? "two writes" : "a read and a write", word.write, site, address);
  }
  for (const Seen& read : word.reads) {
    if (writes && conflicts(read)) {
      report_conflict("a write and a read", read, site, address);
      break;
    }
  }
  Seen now;
  now.operation = operation_;
  now.block = block_;
  now.generation = generation_;
  now.thread = static_cast<uint16_t>(thread_);
  now.clock = warp_clocks_[thread_ / 32][thread_ % 32][thread_ % 32];
  now.site = site;
  now.bytes = mask;
  now.atomic = is_atomic;
  now.volatile_store = is_volatile_store;
  if (writes) {
    word.write = now;
    word.written |= mask;
    word.stores++;
  }
  if (reads) {
    word.loads++;
  }
  if (kind == Kind::Load) {
    const Seen& last = word.reads[0];
    if (last.thread != now.thread || last.block != now.block || last.operation != now.operation) {
      word.reads[1] = word.reads[0];
    }
    word.reads[0] = now;
  }
}

void Watcher::report_conflict(const char* what, const Seen& seen, uint32_t site, uintptr_t address) {
  Problem problem{std::string("a race: ") + what,
                  kernel_,
                  describe(address),
                  describe_thread(block_, thread_),
                  describe_thread(seen.block, seen.thread),
                  "",
                  site,
                  seen.site};
  if (seen.operation != operation_) {
    problem.what += " on two streams";
    problem.thread = describe_operation(operation_);
    problem.other_thread = describe_operation(seen.operation);
    problem.note = "nothing makes one wait for the other";
  } else if (seen.block != block_) {
    problem.what += " by two blocks";
  }
  say(std::move(problem));
}

} // namespace cudasim::watch
