// Mirrors: nothing in PyTorch: what ends a kernel early, with words for it
//
// Note [A kernel must not end the process]
// Problem: a kernel is code of the process here. Its integer division by zero would end the process, which may be a
// notebook with all its variables; on a GPU, a kernel's mistake at most makes the device unusable. Trick: while a
// kernel runs, the handlers of these signals leave the kernel, and the device fails:
//   SIGSEGV, SIGBUS   an address without memory, or a full stack
//   SIGFPE            an integer division by zero
//   SIGABRT           abort(), an exception, an address in free() that malloc did not return, or a write outside of an
//                     array on the stack, which the compiler's check at the end of a function has found
//   SIGILL            __builtin_trap()
// The compiler adds checks to kernels that are compiled at run time. These checks know the line: see kernel_checks.h.
// Limits: a store into other memory of the host is not noticed, unless the kernel is watched.
#include <c10/cuda/sim/kernel_checks.h>
#include <c10/cuda/sim/observer.h>
#include <c10/cuda/sim/runtime.h>

#include <ucontext.h>
#include <unistd.h>

#include <cstdio>

namespace cudasim {

constexpr uintptr_t kBelowStack = 64 << 10; // an address at most so far below a stack is one of the stack

const char* const kFullStack =
    "the thread's stack is full: a recursion without end, or an array that is too large (a "
    "thread that waits at a barrier has 128 KiB here, and 512 KiB on a GPU)";

static std::string describe(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  char text[160];
  if (const Stack stack = kernel_stack(); at + kBelowStack >= stack.low && at < stack.low + kPage) {
    return kFullStack;
  }
  const auto [after, size] = after_shared(address);
  if (after < kPage) {
    std::snprintf(text, sizeof text, "byte %zu of the block's dynamic shared memory, which has %zu bytes%s",
                  size + after, size, size == 0 ? ": the launch must give their number" : "");
  } else if (at < kPage) {
    std::snprintf(text, sizeof text, "address %p, which is a null pointer", address);
  } else if (const Device* device = device_of(address); device != nullptr && device->index != current_device) {
    std::snprintf(text, sizeof text, "address %p is memory of device %d, and the kernel runs on device %d", address,
                  device->index, current_device);
  } else {
    std::snprintf(text, sizeof text, "address %p is no memory of this device", address);
  }
  return std::string("illegal memory access: ") + text;
}

static const void* place_in(void* context) {
#if defined(__x86_64__)
  // A report names the line of the byte before a place, because most places are where a call returns to.
  return reinterpret_cast<const char*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]) + 1;
#else
  (void)context;
  return nullptr;
#endif
}

[[noreturn]] static void leave_kernel(int number, const siginfo_t* info, void* context) {
  const void* const place = place_in(context);
  if (number == SIGSEGV || number == SIGBUS) {
    abandon_kernel(cudaErrorIllegalAddress, describe(info->si_addr), "", place);
  }
  if (number == SIGFPE) {
    abandon_kernel(cudaErrorLaunchFailure, kDivision, "", place);
  }
  abandon_kernel(cudaErrorLaunchFailure,
                 number == SIGILL
                     ? "a trap instruction"
                     : "the kernel was aborted: by abort(), by an exception, by free(), or because it wrote "
                       "outside of an array on its stack",
                 "", place);
}

// Returns whether the kernel itself has caused a signal. abort() sends its signal to its own thread.
static bool is_of_the_kernel(int number, const siginfo_t* info) {
  if (number == SIGSEGV || number == SIGBUS) {
    return in_kernel();
  }
  return in_kernel() && !in_simulator() && (number != SIGABRT || info->si_pid == getpid());
}

static void on_fault(int number, siginfo_t* info, void* context) {
  const bool is_access = number == SIGSEGV || number == SIGBUS;
  if (number == SIGSEGV && info->si_code == SI_TKILL && stop_if_asked(place_in(context))) {
    return; // the simulator's own code goes on, and ends the kernel when it returns to it
  }
  if (is_of_the_kernel(number, info)) {
    leave_kernel(number, info, context);
  }
  if (Observer* it = watching(); is_access && it != nullptr && it->host_fault(info->si_addr)) {
    return;
  }
  if (Device* device = is_access ? device_of(info->si_addr) : nullptr) {
    const auto [base, bytes] = find_allocation(*device, info->si_addr, 1);
    std::fprintf(stderr,
                 "cudasim: host code used a device pointer: %p is byte %td of %zu that cudaMalloc gave on device %d.\n"
                 "  Only kernels can follow it; cudaMemcpy brings its contents to the host.\n",
                 info->si_addr, base != nullptr ? static_cast<char*>(info->si_addr) - base : 0, bytes, device->index);
  }
  // The faulting instruction runs again, with the handler that was installed before ours. A signal that a function has
  // sent does not come again by itself.
  sigaction(number, &runtime().previous[number], nullptr);
  if (info->si_code <= 0) {
    raise(number);
  }
}

void install_fault_handlers(struct sigaction* previous) {
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) {
    sigaction(number, &action, &previous[number]);
  }
}

// ---- what the compiler's checks report -----------------------------------------------------------------------------

const char* const kDivision = "an integer is divided by zero, or the smallest one by -1 (a GPU gives any value)";

[[noreturn]] static void fail_check(cudaError_t error, const std::string& what, const CheckedLine& at,
                                    const void* place) {
  abandon_kernel(error, what, std::string(at.file) + ":" + std::to_string(at.line), place);
}

void index_outside(const CheckedIndex& check, const void* index, const void* place) {
  if (!in_kernel()) {
    return;
  }
  // The type's info has the sign in its lowest bit and the logarithm of the width in the others. A narrow index comes
  // without its sign.
  auto value = reinterpret_cast<intptr_t>(index);
  if (const unsigned bits = 1u << (check.index->info >> 1); (check.index->info & 1) != 0 && bits < 64) {
    value = static_cast<intptr_t>(static_cast<uintptr_t>(value) << (64 - bits)) >> (64 - bits);
  }
  fail_check(cudaErrorIllegalAddress,
             "index " + std::to_string(value) + " is outside of an array of type " + check.array->name, check.at,
             place);
}

void division_by_zero(const CheckedDivision& check, const void* place) {
  if (in_kernel()) {
    fail_check(cudaErrorLaunchFailure, kDivision, check.at, place);
  }
}

void pointer_misaligned(const CheckedPointer& check, const void* pointer, const void* place) {
  if (!in_kernel()) {
    return;
  }
  char text[160];
  if (pointer == nullptr) {
    std::snprintf(text, sizeof text, "a null pointer to %s is used", check.type->name);
    fail_check(cudaErrorIllegalAddress, text, check.at, place);
  }
  const unsigned long needed = 1ul << check.log_alignment;
  std::snprintf(text, sizeof text, "misaligned address: %p is %lu bytes behind a multiple of %lu, as %s needs it",
                pointer, reinterpret_cast<uintptr_t>(pointer) % needed, needed, check.type->name);
  fail_check(cudaErrorMisalignedAddress, text, check.at, place);
}

} // namespace cudasim
