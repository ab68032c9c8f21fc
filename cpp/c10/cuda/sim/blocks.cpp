// Mirrors: nothing in PyTorch: how the simulator runs the threads of a block
//
// Note [Fibers]
// The simulator runs the threads of a block one after the other, as calls of the kernel on the host thread's own stack.
// As long as no thread has to wait, that is a plain loop. When a thread waits (in __syncthreads or a shuffle), its
// stack is left as it is, and the next thread runs on a stack of its own, a fiber. So a kernel without barriers uses no
// fibers, kernels need no mark that says whether they have barriers, and a debugger shows who launched the kernel.
// makecontext starts a fiber on its stack. After that, sigsetjmp and siglongjmp switch between fibers, because
// swapcontext makes a system call each time (240 ns instead of 11).
//
// Limits: a fiber has 128 KiB of stack. The threads of a block run on one host thread, so a race that shows in no order
// of the threads stays hidden. The file is more than 500 lines long, because Block is one piece.
#undef _FORTIFY_SOURCE // its checked siglongjmp refuses to jump from one stack to another
#include <c10/cuda/sim/known_stack.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace cudasim {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackBytes = 512 << 10; // a sanitizer makes the frames of functions larger
#else
constexpr size_t kStackBytes = 128 << 10;
#endif
constexpr size_t kSignalStack = 64 << 10;

struct Fiber {
  sigjmp_buf at; // where the fiber continues
  ucontext_t start;
  char* stack = nullptr;
  size_t stack_bytes = 0;
  bool started = false;
  KnownStack known; // see Note [Fibers under a sanitizer]
};

struct Thread {
  enum State : uint8_t { Unstarted, Running, AtBarrier, AtWarpOp, Ready, Exited };
  uint3 index;
  State state = Unstarted;
  Fiber* fiber = nullptr; // the fiber on which the thread waits
  // The arguments of the thread's warp operation. After the operation, `value` is the result.
  WarpOp op = WarpOp::Sync;
  unsigned mask = 0;
  uint64_t value = 0;
  int from_lane = 0;
};

// Maps fresh memory between two pages without access.
static char* map_pages(size_t bytes) {
  char* p = static_cast<char*>(mmap(nullptr, bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(p + kPage, bytes, PROT_READ | PROT_WRITE);
  return p + kPage;
}
static void unmap_pages(char* p, size_t bytes) {
  munmap(p - kPage, bytes + 2 * kPage);
}

// Runs blocks, one at a time. Each host thread that runs kernels has one Block.
class Block {
 public:
  Block() {
    stack_t old{};
    sigaltstack(nullptr, &old);
    if (old.ss_flags &
        SS_DISABLE) { // a signal handler needs this stack, because a fiber with a full stack has no room for it
      signal_stack_ = map_pages(kSignalStack);
      stack_t own{signal_stack_, 0, kSignalStack};
      sigaltstack(&own, nullptr);
    }
    pthread_attr_t about;
    void* low = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &about) == 0) {
      pthread_attr_getstack(&about, &low, &bytes);
      pthread_attr_destroy(&about);
    }
    home_stack_.low = reinterpret_cast<uintptr_t>(low);
  }
  ~Block() {
    if (signal_stack_ != nullptr) {
      stack_t off{nullptr, SS_DISABLE, 0};
      sigaltstack(&off, nullptr);
      unmap_pages(signal_stack_, kSignalStack);
    }
    for (Fiber* fiber : fibers_) {
      fiber->known.end();
      unmap_pages(fiber->stack, kStackBytes);
      delete fiber;
    }
    unmap_pages(shared_memory_, kMaxShared);
  }
  // `observer` may be null.
  void prepare(const cudaLaunchConfig_t& config, Kernel* kernel, Observer* observer);
  cudaError_t run(uint64_t block_index);

  void syncthreads(const void* place);
  uint64_t warp_exchange(WarpOp op, unsigned mask, uint64_t value, int from_lane);
  bool in_kernel() const {
    return running_;
  }
  int lane() const {
    return static_cast<int>(current_ % warpSize);
  }
  unsigned active_mask() const {
    return warps_[current_ / warpSize].alive;
  }
  void count(bool predicate) {
    counted_ += predicate;
  }
  int last_count() const { // of the last barrier that was released
    return last_count_;
  }
  // Returns the dynamic shared memory. It ends at a page without access, so that an index that is too large faults.
  char* shared() const {
    return shared_memory_ + kMaxShared - shared_bytes_;
  }
  const void* function() const {
    return kernel_->function;
  }
  // The bytes that an address lies after the end of the dynamic shared memory, and the size of that memory.
  std::pair<uintptr_t, size_t> after_shared(const void* address) const {
    const auto end = reinterpret_cast<uintptr_t>(shared_memory_ + kMaxShared);
    return {reinterpret_cast<uintptr_t>(address) - end, shared_bytes_};
  }
  Stack stack() const {
    if (fiber_ == &home_) {
      return home_stack_;
    }
    const auto low = reinterpret_cast<uintptr_t>(fiber_->stack);
    return {low, low + fiber_->stack_bytes};
  }
  void tell_failed(const std::string& what, const void* place) {
    if (observer_ != nullptr) {
      observer_->failed(what, place);
    }
  }
  [[noreturn]] void abandon(cudaError_t error) {
    if (fiber_ != &home_) {
      switch_to(&home_);
    }
    siglongjmp(abandoned_, error);
  }
  void enter() {
    in_simulator_ = true;
  }
  void leave() {
    in_simulator_ = false;
    if (host_thread_.stop != KernelThread::No) {
      stop(nullptr);
    }
  }
  bool in_simulator() const {
    return in_simulator_;
  }
  [[noreturn]] void stop(const void* place);
  KernelThread& host_thread() {
    return host_thread_;
  }
  void run_threads(); // the function that every fiber runs
  void arrived() {    // on the stack of `fiber_`
    if (left_ != nullptr) {
      fiber_->known.arrived(left_->known);
      left_ = nullptr;
    }
  }

 private:
  Fiber* take_fiber();
  void switch_to(Fiber* fiber) { // the jump to the fiber's stack follows
    left_ = fiber_;
    fiber_ = fiber;
    left_->known.leave(fiber_->known);
  }
  [[noreturn]] void resume(Fiber* fiber);
  void wait(Thread::State state);
  void go_on(Fiber* from);
  void exit_thread();
  void release_barrier();
  bool complete_warp_op(unsigned warp);
  std::string first_in(Thread::State state) const;
  [[noreturn]] void report_deadlock();
  void make_ready(unsigned thread) {
    threads_[thread].state = Thread::Ready;
    ready_.push_back(thread);
  }

  Kernel* kernel_ = nullptr;
  Observer* observer_ = nullptr; // of the grid that runs
  size_t shared_bytes_ = 0;
  char* shared_memory_ = map_pages(kMaxShared);
  char* signal_stack_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<unsigned> order_; // the order in which the threads start
  struct Warp {
    unsigned waiting = 0; // how many lanes wait in a warp operation
    unsigned alive = 0;   // a bit for each lane that has not left the kernel
  };
  std::vector<Warp> warps_;
  std::deque<unsigned> ready_; // threads that have waited and may continue
  size_t next_ = 0, alive_ = 0, at_barrier_ = 0;
  unsigned current_ = 0;
  int counted_ = 0, last_count_ = 0; // by __syncthreads_count: before this barrier, at the one before
  Fiber* fiber_ = nullptr;
  Fiber* left_ = nullptr; // between the two halves of a switch: the fiber that is left
  Fiber home_;            // the host thread's own stack
  Stack home_stack_{};    // of which kernels use this part
  std::vector<Fiber*> idle_, fibers_;
  sigjmp_buf abandoned_; // where the host thread continues after an error inside the kernel
  bool running_ = false;
  volatile bool in_simulator_ = false; // the signal handler of the same thread reads it
  KernelThread host_thread_;
};
static thread_local std::unique_ptr<Block> this_block;

void Block::prepare(const cudaLaunchConfig_t& config, Kernel* kernel, Observer* observer) {
  static const std::string order = setting("REFTORCH_CUDA_SIM_ORDER", "forward");
  kernel_ = kernel;
  observer_ = observer;
  gridDim = config.gridDim;
  shared_bytes_ = (config.dynamicSmemBytes + 15) / 16 * 16;
  const dim3 d = config.blockDim;
  if (!threads_.empty() && d.x == blockDim.x && d.y == blockDim.y && d.z == blockDim.z && order != "random") {
    return;
  }
  blockDim = d;
  threads_.assign(size_t(d.x) * d.y * d.z, Thread());
  order_.resize(threads_.size());
  for (unsigned i = 0; i < threads_.size(); i++) {
    threads_[i].index = {i % d.x, i / d.x % d.y, i / d.x / d.y};
    order_[i] = order == "reverse" ? static_cast<unsigned>(threads_.size()) - 1 - i : i;
  }
  if (order == "random") {
    static thread_local std::minstd_rand random;
    std::shuffle(order_.begin(), order_.end(), random);
  }
}

cudaError_t Block::run(uint64_t i) {
  blockIdx = {unsigned(i % gridDim.x), unsigned(i / gridDim.x % gridDim.y), unsigned(i / gridDim.x / gridDim.y)};
  for (Thread& thread : threads_) {
    thread.state = Thread::Unstarted;
  }
  warps_.assign((threads_.size() + warpSize - 1) / warpSize, {0, ~0u});
  if (threads_.size() % warpSize != 0) {
    warps_.back().alive = (1u << threads_.size() % warpSize) - 1;
  }
  next_ = at_barrier_ = 0;
  counted_ = 0;
  alive_ = threads_.size();
  std::memset(shared(), 0xff, shared_bytes_); // memory that no thread wrote reads as NaN
  if (observer_ != nullptr) {
    observer_->block_begin(shared(), shared_bytes_);
  }
  running_ = in_simulator_ = true;
  home_stack_.high = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const int error = sigsetjmp(abandoned_, 0);
  if (error == 0) {
    fiber_ = &home_;
    home_.started = true;
    run_threads();
  } else { // an error left the kernel while fibers were waiting
    arrived();
    home_.known.forget_calls();
    ready_.clear();
    idle_ = fibers_;
    for (Fiber* fiber : fibers_) {
      fiber->started = false;
      fiber->known.begin(fiber->stack, fiber->stack_bytes);
    }
  }
  running_ = false;
  if (observer_ != nullptr) {
    observer_->block_end();
  }
  return static_cast<cudaError_t>(error);
}

Fiber* Block::take_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(new Fiber);
    fibers_.back()->stack = map_pages(kStackBytes);
    // Each stack has a different length, because stacks that begin at the same place of a page compete for the same
    // cache lines.
    fibers_.back()->stack_bytes = kStackBytes - fibers_.size() * 192 % kPage;
    fibers_.back()->known.begin(fibers_.back()->stack, fibers_.back()->stack_bytes);
    return fibers_.back();
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

static void start_fiber() {
  this_block->arrived();
  this_block->run_threads();
}

void Block::resume(Fiber* fiber) {
  if (fiber->started) {
    switch_to(fiber);
    siglongjmp(fiber->at, 1);
  }
  fiber->started = true;
  getcontext(&fiber->start);
  fiber->start.uc_stack = {fiber->stack, 0, fiber->stack_bytes};
  makecontext(&fiber->start, start_fiber, 0);
  switch_to(fiber);
  setcontext(&fiber->start);
  std::abort(); // setcontext does not return
}

void Block::run_threads() {
  Fiber* const self = fiber_;
  for (;;) {
    while (ready_.empty() && next_ < threads_.size()) {
      current_ = order_[next_++];
      threads_[current_].state = Thread::Running;
      threadIdx = threads_[current_].index;
      if (observer_ != nullptr) {
        observer_->thread_runs(current_, /*is_new=*/true);
      }
      leave();
      [&]() noexcept { (*kernel_)(); }(); // an exception ends in the handler of SIGABRT
      enter();
      exit_thread();
    }
    if (self != &home_) {
      idle_.push_back(self);
    } else if (alive_ == 0) {
      return;
    }
    go_on(self);
  }
}

// Switches from the fiber `from` to another one. Returns when a fiber resumes `from`.
__attribute__((noinline)) void Block::go_on(Fiber* from) {
  if (sigsetjmp(from->at, 0) != 0) {
    arrived();
    return;
  }
  if (!ready_.empty()) {
    const unsigned thread = ready_.front();
    ready_.pop_front();
    current_ = thread;
    resume(threads_[thread].fiber);
  }
  if (next_ < threads_.size()) {
    resume(take_fiber());
  }
  if (alive_ == 0) {
    resume(&home_);
  }
  report_deadlock();
}

void Block::wait(Thread::State state) {
  const unsigned me = current_;
  threads_[me].state = state;
  threads_[me].fiber = fiber_;
  go_on(fiber_);
  threads_[me].state = Thread::Running;
  threadIdx = threads_[me].index;
  if (observer_ != nullptr) {
    observer_->thread_runs(me, /*is_new=*/false);
  }
}

void Block::syncthreads(const void* place) {
  enter();
  if (observer_ != nullptr) {
    observer_->at_barrier(current_, place);
  }
  if (++at_barrier_ < alive_) {
    wait(Thread::AtBarrier);
  } else {
    release_barrier(); // the last thread to arrive does not wait
  }
  leave();
}

void Block::release_barrier() {
  if (observer_ != nullptr) {
    observer_->barrier_done();
  }
  at_barrier_ = 0;
  last_count_ = counted_;
  counted_ = 0;
  for (unsigned thread : order_) {
    if (threads_[thread].state == Thread::AtBarrier) {
      make_ready(thread);
    }
  }
}

void Block::exit_thread() {
  threads_[current_].state = Thread::Exited;
  if (observer_ != nullptr) {
    observer_->thread_exit(current_);
  }
  alive_--;
  if (at_barrier_ > 0 &&
      at_barrier_ == alive_) { // as on a GPU, the barrier does not wait for threads that have returned
    release_barrier();
  }
  Warp& warp = warps_[current_ / warpSize];
  warp.alive &= ~(1u << current_ % warpSize);
  if (warp.waiting > 0) {
    complete_warp_op(current_ / warpSize);
  }
}

uint64_t Block::warp_exchange(WarpOp op, unsigned mask, uint64_t value, int from_lane) {
  enter();
  const unsigned me = current_, warp = me / warpSize;
  Thread& thread = threads_[me];
  thread.op = op;
  thread.mask = mask;
  thread.value = value;
  thread.from_lane = from_lane;
  thread.state = Thread::AtWarpOp;
  const bool may_be_last = ++warps_[warp].waiting >= unsigned(__builtin_popcount(mask & warps_[warp].alive));
  if (!may_be_last || !complete_warp_op(warp)) {
    wait(Thread::AtWarpOp);
  }
  thread.state = Thread::Running;
  const uint64_t result = thread.value;
  leave();
  return result;
}

// Completes every warp operation for which all lanes of its mask have arrived: gives each lane its result and makes the
// lane ready. Returns whether the current thread is one of these lanes.
bool Block::complete_warp_op(unsigned warp) {
  Thread* const lanes = &threads_[warp * warpSize];
  const int n = static_cast<int>(std::min<size_t>(warpSize, threads_.size() - warp * warpSize));
  bool current_goes_on = false;
  for (int first = 0; first < n; first++) {
    if (lanes[first].state != Thread::AtWarpOp) {
      continue;
    }
    const unsigned mask = lanes[first].mask, here = mask & warps_[warp].alive;
    bool complete = true;
    for (int l = 0; l < n && complete; l++) {
      if (here >> l & 1) {
        complete = lanes[l].state == Thread::AtWarpOp && lanes[l].mask == mask && lanes[l].op == lanes[first].op;
      }
    }
    if (!complete) {
      continue;
    }
    if (observer_ != nullptr) {
      observer_->warp_done(warp, here, lanes[first].op == WarpOp::Sync);
    }
    uint64_t values[warpSize], ballot = 0;
    for (int l = 0; l < n; l++) {
      values[l] = lanes[l].value;
      ballot |= uint64_t(here >> l & 1 && lanes[l].value != 0) << l;
    }
    for (int l = 0; l < n; l++) {
      if (here >> l & 1) {
        const int from = lanes[l].from_lane;
        // If the lane to read from is not in the mask, it has no value, and the reader gets all ones, which is NaN.
        const uint64_t shuffled = from >= 0 && from < n && here >> from & 1 ? values[from] : ~uint64_t(0);
        lanes[l].value = lanes[l].op == WarpOp::Ballot ? ballot : shuffled;
        warps_[warp].waiting--;
        if (&lanes[l] == &threads_[current_]) {
          lanes[l].state = Thread::Running;
          current_goes_on = true;
        } else {
          make_ready(warp * warpSize + l);
        }
      }
    }
  }
  return current_goes_on;
}

static std::string written(const uint3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

// The kernel is left after its report. The guard may send a second signal meanwhile: it must not leave the kernel a
// second time, because the report holds locks of the dynamic loader and of stderr.
// `who` describes the thread, if the report is about one. Where no line is known, the report says what finds it.
static void report_in_kernel(const std::string& what, const std::string& where, const std::string& who) {
  this_block->enter();
  const std::string kernel = function_name(this_block->function());
  const bool needs_line = where.empty() && watching() == nullptr;
  std::fprintf(stderr, "cudasim: %s%s%s\n  in kernel %s, block %s%s\n%s", where.c_str(), where.empty() ? "" : ": ",
               what.c_str(), kernel.c_str(), written(blockIdx).c_str(), who.c_str(),
               needs_line ? "  (reftorch.debug.watch_kernels and %%cuda --watch name the line)\n" : "");
}

// Returns ", first thread (1,0,0)" for the threads in one state, and nothing if there are none.
std::string Block::first_in(Thread::State state) const {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) { return t.state == state; });
  return found == threads_.end() ? "" : ", first thread " + written(found->index);
}

void Block::report_deadlock() {
  const auto in_warp_op = static_cast<size_t>(std::count_if(
      threads_.begin(), threads_.end(), [](const Thread& thread) { return thread.state == Thread::AtWarpOp; }));
  const size_t gone = threads_.size() - alive_;
  if (observer_ != nullptr) {
    observer_->stuck(at_barrier_, in_warp_op, gone);
  }
  report_in_kernel("deadlock, because the threads of a block wait for each other: in __syncthreads " +
                       std::to_string(at_barrier_) + first_in(Thread::AtBarrier) + "; in an operation of their warp " +
                       std::to_string(in_warp_op) + first_in(Thread::AtWarpOp) + "; have left the kernel " +
                       std::to_string(gone) + first_in(Thread::Exited),
                   "", "");
  abandon(cudaErrorLaunchFailure);
}

void Block::stop(const void* place) {
  const bool by_user = host_thread_.stop == KernelThread::ByTheUser;
  const char* const what = by_user ? "the kernel was interrupted (a GPU would run it to its end)"
                                   : "the kernel did not end in the time that REFTORCH_CUDA_SIM_TIMEOUT_S allows";
  enter();
  tell_failed(what, place);
  report_in_kernel(what, "", ", thread " + written(threadIdx));
  abandon(cudaErrorLaunchTimeout);
}

std::atomic<Observer*> observer{nullptr};

void tell_atomic(const void* p, size_t bytes, const void* place) {
  if_watching([&](Observer& it) {
    if (in_kernel()) {
      enter_simulator();
      it.atomic(p, bytes, place);
      leave_simulator();
    }
  });
}

// A watched grid runs on one host thread, so that what is reported does not depend on the number of threads. An
// observer that comes while a grid runs hears of the next grid only.
void run_grid(const cudaLaunchConfig_t& config, Kernel& kernel, Device& device, unsigned long operation) {
  Observer* it = operation != 0 ? watching() : nullptr;
  if (it != nullptr && !it->wants_grids()) {
    it = nullptr;
  }
  if (it != nullptr) {
    it->grid_begin(config, kernel, operation);
  }
  const uint64_t blocks = uint64_t(config.gridDim.x) * config.gridDim.y * config.gridDim.z;
  std::atomic<uint64_t> next{0};
  auto some_blocks = [&] {
    if (this_block == nullptr) {
      this_block = std::make_unique<Block>();
    }
    this_block->prepare(config, &kernel, it);
    KernelThread& thread = this_block->host_thread();
    thread.begin_kernel();
    for (uint64_t i = next++; i < blocks && device.error == cudaSuccess; i = next++) {
      if (cudaError_t error = this_block->run(i); error != cudaSuccess) {
        next = blocks;
        if (thread.stop != KernelThread::ByTheUser) {
          device.error = error;
        }
      }
    }
    thread.end_kernel();
    write_output();
  };
  std::vector<std::thread> helpers;
  for (int i = 0; it == nullptr && i < runtime().helpers && blocks > 1; i++) {
    helpers.emplace_back([&] {
      pthread_setname_np(pthread_self(), "cuda blocks");
      some_blocks();
    });
  }
  some_blocks();
  for (std::thread& helper : helpers) {
    helper.join();
  }
  if (it != nullptr) {
    it->grid_end();
  }
}

bool in_kernel() {
  return this_block != nullptr && this_block->in_kernel();
}
bool in_simulator() {
  return this_block->in_simulator();
}
Stack kernel_stack() {
  return this_block->stack();
}
std::pair<uintptr_t, size_t> after_shared(const void* address) {
  return this_block->after_shared(address);
}
void abandon_kernel(cudaError_t error, const std::string& what, const std::string& where, const void* place) {
  enter_simulator();
  this_block->tell_failed(what, place);
  report_in_kernel(what, where, ", thread " + written(threadIdx));
  this_block->abandon(error);
}

uint64_t warp_exchange(WarpOp op, unsigned mask, uint64_t value, int from_lane) {
  return this_block->warp_exchange(op, mask, value, from_lane);
}
void enter_simulator() {
  this_block->enter();
}
void leave_simulator() {
  this_block->leave();
}
bool stop_if_asked(const void* place) {
  if (this_block == nullptr || this_block->host_thread().stop == KernelThread::No) {
    return false;
  }
  if (this_block->in_kernel() && !this_block->in_simulator()) {
    this_block->stop(place);
  }
  return true;
}
int lane_id() {
  return this_block->lane();
}
unsigned active_mask() {
  return this_block->active_mask();
}
int syncthreads_count(bool predicate) {
  this_block->count(predicate);
  __syncthreads();
  return this_block->last_count();
}
void* dynamic_shared() {
  return this_block->shared();
}
void fail_kernel(cudaError_t error, const char* what, const char* file, int line, const void* place) {
  abandon_kernel(error, what, std::string(file) + ":" + std::to_string(line),
                 place != nullptr ? place : __builtin_return_address(0));
}

} // namespace cudasim

void __syncthreads() {
  cudasim::this_block->syncthreads(__builtin_return_address(0));
}
