// Mirrors: nothing in PyTorch: the watcher follows grids, blocks, threads and barriers
#include <c10/cuda/sim/runtime.h>
#include <c10/cuda/sim/watch/Watcher.h>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <utility>

namespace cudasim::watch {

constexpr size_t kMostRecords = 16 << 20;  // of the threads of one block
constexpr size_t kBlocksPerLook = 1 << 16; // after so many basic blocks, the watcher looks at the clock
constexpr size_t kMostLaunches = 10000;
constexpr uint32_t kMostCalls = 64;       // of a path; a recursion has no more
constexpr size_t kLeftOfStack = 16 << 10; // for the watcher itself

__thread CudaThread* running = nullptr;

// Returns the thread-local variables of this host thread that belong to the library with the kernel: they are its
// __shared__ variables. `modules` becomes the memory of all libraries.
static Range shared_variables(const void* function, std::vector<Range>& modules) {
  struct Search {
    uintptr_t function;
    Range shared;
    std::vector<Range>* modules;
  } search{reinterpret_cast<uintptr_t>(function), {}, &modules};
  modules.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        bool has_kernel = false;
        size_t shared_bytes = 0;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const auto& header = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD) {
            search.modules->push_back({begin, begin + header.p_memsz});
            has_kernel = has_kernel || search.modules->back().has(search.function);
          } else if (header.p_type == PT_TLS) {
            shared_bytes = header.p_memsz;
          }
        }
        if (has_kernel && info->dlpi_tls_data != nullptr) {
          const auto begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
          search.shared = {begin, begin + shared_bytes};
        }
        return 0;
      },
      &search);
  return search.shared;
}

void Watcher::find_shared_variables() {
  static_shared_ = shared_variables(function_, modules_);
  static_words_.assign(static_shared_.size() / kWord + 1, Word());
}

void Watcher::grid_begin(const cudaLaunchConfig_t& config, const Kernel& kernel, unsigned long operation) {
  std::vector<Range> pinned;
  {
    std::lock_guard<std::mutex> lock(runtime().mutex);
    for (const auto& [begin, bytes] : runtime().pinned) {
      const auto at = reinterpret_cast<uintptr_t>(begin);
      pinned.push_back({at, at + bytes});
    }
  }
  state_.lock(); // until grid_end
  pinned_ = std::move(pinned);
  std::string& name = kernel_names_[kernel.function];
  if (name.empty()) {
    name = function_name(kernel.function);
  }
  kernel_ = name;
  function_ = kernel.function;
  operation_ = static_cast<uint32_t>(operation);
  order_.rename(operation_, name);
  grid_dim_ = config.gridDim;
  block_dim_ = config.blockDim;
  if (launches_.size() < kMostLaunches) {
    launches_.push_back({name, config.gridDim, config.blockDim, operation_, false});
  }
  threads_.resize(size_t(block_dim_.x) * block_dim_.y * block_dim_.z);
  const auto object = reinterpret_cast<uintptr_t>(&kernel);
  arguments_ = {object, object + kernel.bytes};
  find_shared_variables();
  is_instrumented_ = told_ = false;
  last_blamed_ = {0, 0, 0};
  deadline_ = std::chrono::steady_clock::now() + may_run_;
}

void Watcher::grid_end() {
  running = nullptr;
  if (!is_instrumented_) {
    trust_arguments();
  } else if (launches_.back().operation == operation_) {
    launches_.back().is_instrumented = true;
  }
  operation_ = 0;
  state_.unlock();
}

// Handles a kernel that was compiled without instrumentation. Nobody knows what it wrote. So each allocation that its
// arguments point into counts as written, and nobody is blamed for reading it.
void Watcher::trust_arguments() {
  for (uintptr_t at = arguments_.begin; at + sizeof(void*) <= arguments_.end; at += sizeof(void*)) {
    const void* value = *reinterpret_cast<const void* const*>(at);
    if (device_of(value) != nullptr) {
      if (Allocation* a = allocations_.find(reinterpret_cast<uintptr_t>(value), 1)) {
        a->is_trusted = true;
      }
    }
  }
}

void Watcher::block_begin(const void* dynamic_shared, size_t bytes) {
  block_ = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  generation_ = 0;
  records_ = 0;
  at_barrier_.clear();
  gone_.assign(threads_.size(), false);
  has_looked_for_shared_ = false;
  const auto begin = reinterpret_cast<uintptr_t>(dynamic_shared);
  dynamic_shared_ = {begin, begin + bytes};
  dynamic_words_.assign(bytes / kWord + 1, Word());
  static_words_.assign(static_shared_.size() / kWord + 1, Word());
  warp_clocks_.assign((threads_.size() + 31) / 32, {});
  for (auto& warp : warp_clocks_) {
    for (size_t lane = 0; lane < 32; lane++) {
      warp[lane][lane] = 1;
    }
  }
  for (CudaThread& thread : threads_) {
    thread.trace.clear();
    thread.path = thread.deeper = 0;
  }
}

void Watcher::block_end() {
  running = nullptr;
  if (!is_instrumented_) {
    return;
  }
  const std::vector<uint32_t>& ranks = sites_.ranks();
  for (size_t first = 0; first < threads_.size(); first += 32) {
    const size_t n = std::min<size_t>(32, threads_.size() - first);
    std::vector<Record> lanes[32];
    for (size_t l = 0; l < n; l++) {
      lanes[l].swap(threads_[first + l].trace);
    }
    merge(lanes, static_cast<int>(n), ranks, sites_.kinds(),
          [&](const Instruction& in) { count(in, static_cast<uint32_t>(first / 32)); });
    for (size_t l = 0; l < n; l++) { // the next block uses the same memory
      lanes[l].clear();
      threads_[first + l].trace.swap(lanes[l]);
    }
  }
}

void Watcher::thread_runs(unsigned thread, bool is_new) {
  thread_ = thread;
  running = &threads_[thread];
  const Stack stack = kernel_stack();
  stack_ = {stack.low, stack.high};
  last_block_ = 0;
  if (is_new) {
    running->path = running->deeper = 0;
  }
}

void Watcher::thread_exit(unsigned thread) {
  running = nullptr;
  gone_[thread] = true;
}

void Watcher::at_barrier(unsigned thread, const void* place) {
  const uint32_t site = sites_.site_of(running->path, reinterpret_cast<uintptr_t>(place), Kind::Barrier);
  append(site, 0, 0);
  at_barrier_.push_back({site, thread});
}

// All threads of a block must come to the same __syncthreads, as for the synccheck of compute-sanitizer.
void Watcher::barrier_done() {
  generation_++;
  const Waiting first = at_barrier_.front();
  const auto other =
      std::find_if(at_barrier_.begin(), at_barrier_.end(), [&](const Waiting& it) { return it.site != first.site; });
  if (other != at_barrier_.end()) {
    say({"threads of a block wait at different barriers", kernel_, "", describe_thread(block_, ~0u), "",
         name_thread(first.thread) + " waits at the first line, " + name_thread(other->thread) + " at the second",
         first.site, other->site});
  } else if (at_barrier_.size() < threads_.size()) {
    const auto gone = static_cast<unsigned>(std::find(gone_.begin(), gone_.end(), true) - gone_.begin());
    say({"a barrier without all threads of the block", kernel_, "", describe_thread(block_, ~0u), "",
         name_thread(first.thread) + " waits here, and " + std::to_string(threads_.size() - at_barrier_.size()) +
             " of the " + std::to_string(threads_.size()) + " threads had left the kernel before, the first is " +
             name_thread(gone),
         first.site});
  }
  at_barrier_.clear();
}

void Watcher::stuck(size_t at_barrier, size_t in_warp_operation, size_t gone) {
  std::vector<bool> elsewhere = gone_;
  for (const Waiting& it : at_barrier_) {
    elsewhere[it.thread] = true;
  }
  const auto first = [&](const std::vector<bool>& list, bool value) {
    const auto found = std::find(list.begin(), list.end(), value);
    return found == list.end() ? "" : ", the first is " + name_thread(static_cast<unsigned>(found - list.begin()));
  };
  say({"the threads of a block wait for each other without end", kernel_, "", describe_thread(block_, ~0u), "",
       std::to_string(at_barrier) + " threads wait at a barrier" +
           (at_barrier_.empty() ? "" : ", the first is " + name_thread(at_barrier_.front().thread)) + "; " +
           std::to_string(in_warp_operation) + " in an operation of their warp" + first(elsewhere, false) + "; " +
           std::to_string(gone) + " have left the kernel" + first(gone_, true),
       at_barrier_.empty() ? 0 : at_barrier_.front().site});
}

static bool are_of_one_library(const void* a, const void* b) {
  Dl_info of_a{}, of_b{};
  return dladdr(a, &of_a) != 0 && dladdr(b, &of_b) != 0 && of_a.dli_fbase == of_b.dli_fbase;
}

// The access that ends a kernel has been reported before it happened. If another library failed that the kernel has
// called, the line is that of the basic block.
void Watcher::failed(const std::string& what, const void* place) {
  const bool is_access = what.rfind("illegal memory access", 0) == 0;
  if (told_ || (is_access && last_blamed_ == std::make_tuple(operation_, block_, thread_))) {
    return;
  }
  const bool is_place = running != nullptr && are_of_one_library(place, function_);
  const uint32_t site =
      is_place ? sites_.site_of(running->path, reinterpret_cast<uintptr_t>(place), Kind::Load) : last_block_;
  say({what, kernel_, "", describe_thread(block_, thread_), "", "", site});
}

void Watcher::warp_done(unsigned warp, unsigned lanes, bool orders_memory) {
  if (!orders_memory) {
    return;
  }
  auto& clocks = warp_clocks_[warp];
  std::array<uint32_t, 32> joined{};
  for (size_t l = 0; l < 32; l++) {
    for (size_t k = 0; k < 32 && (lanes >> l & 1); k++) {
      joined[k] = std::max(joined[k], clocks[l][k]);
    }
  }
  for (size_t l = 0; l < 32; l++) {
    if (lanes >> l & 1) {
      clocks[l] = joined;
      clocks[l][l]++;
    }
  }
}

void Watcher::enter(const void* place) {
  is_instrumented_ = true;
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < stack_.begin + kLeftOfStack) {
    abandon_kernel(cudaErrorIllegalAddress, kFullStack, "", place);
  }
  if (sites_.depth_of(running->path) >= kMostCalls) {
    running->deeper++;
  } else {
    running->path = sites_.path_of(running->path, reinterpret_cast<uintptr_t>(place));
  }
}

void Watcher::leave() {
  if (running->deeper > 0) {
    running->deeper--;
  } else {
    running->path = sites_.parent_of(running->path);
  }
}

// Each loop passes basic blocks, so no kernel runs without end.
void Watcher::basic_block(const void* place) {
  const uint32_t site = sites_.site_of(running->path, reinterpret_cast<uintptr_t>(place), Kind::BasicBlock);
  last_block_ = site;
  if (++blocks_run_ % kBlocksPerLook == 0 && std::chrono::steady_clock::now() > deadline_) {
    say({"the kernel does not end", kernel_, "", describe_thread(block_, thread_), "",
         "it was stopped after " + std::to_string(may_run_.count()) + " seconds", site});
    told_ = true;
    abandon_kernel(cudaErrorLaunchFailure, "the watcher stopped the kernel, which does not end", "", nullptr);
  }
  append(site, 0, 0);
}

void Watcher::append(uint32_t site, uintptr_t address, size_t bytes) {
  if (records_ < kMostRecords) {
    running->trace.push_back({address, site, static_cast<uint8_t>(bytes)});
    records_++;
  }
}

void Watcher::count(const Instruction& in, uint32_t warp) {
  Site& site = sites_[in.site];
  Totals& t = site.totals;
  const Kind kind = sites_.kinds()[in.site];
  const auto lanes = static_cast<uint32_t>(__builtin_popcount(in.mask));
  t.instructions++;
  t.lanes += lanes;
  t.fewest_lanes = std::min(t.fewest_lanes, lanes);
  t.most_lanes = std::max(t.most_lanes, lanes);
  if (kind == Kind::BasicBlock || kind == Kind::Barrier) {
    return;
  }
  uint32_t all, least;
  if (site.space == Space::Global) {
    count_sectors(in, all, least);
    t.sectors += all;
    t.least_sectors += least;
    t.most_sectors = std::max(t.most_sectors, all);
  } else {
    count_passes(in, all, least);
    t.passes += all;
    t.least_passes += least;
    t.most_passes = std::max(t.most_passes, all);
  }
  if (kind == Kind::Atomic) {
    t.same_address += lanes_of_one_address(in);
  }
  if (site.samples.size() < kSamples) {
    site.samples.push_back({operation_, block_, warp, in});
  }
}

} // namespace cudasim::watch
