// Mirrors: nothing in PyTorch: the functions that a compiler calls in instrumented kernels
//
// See Note [Watching kernels]. The names and parameters are those of libtsan and of the compiler's coverage. A library
// of the thread sanitizer's build needs libtsan's own functions, so there these are left out, and nothing is watched.
#include <c10/cuda/sim/runtime.h>
#include <c10/cuda/sim/watch/Watcher.h>

#include <cstddef>
#include <cstdint>

#if !defined(__SANITIZE_THREAD__)
using cudasim::watch::Kind;
using cudasim::watch::running;
using cudasim::watch::Watcher;

// Calls `tell` with the watcher if a CUDA thread runs. The guard must not end the kernel meanwhile.
template <typename F>
static inline void tell_watcher(const F& tell) {
  if (running != nullptr) {
    cudasim::enter_simulator();
    tell(cudasim::watch::watcher());
    cudasim::leave_simulator();
  }
}

#pragma GCC visibility push(default)
extern "C" {

#define RETURNS_TO __builtin_return_address(0)

// ---- loads and stores ----
#define ACCESS(name, bytes, kind)                                               \
  void name(void* p) {                                                          \
    const void* const place = RETURNS_TO;                                       \
    tell_watcher([&](Watcher& it) { it.access(p, bytes, Kind::kind, place); }); \
  }
#define ACCESSES(prefix)           \
  ACCESS(prefix##read2, 2, Load)   \
  ACCESS(prefix##read4, 4, Load)   \
  ACCESS(prefix##read8, 8, Load)   \
  ACCESS(prefix##read16, 16, Load) \
  ACCESS(prefix##write2, 2, Store) \
  ACCESS(prefix##write4, 4, Store) \
  ACCESS(prefix##write8, 8, Store) \
  ACCESS(prefix##write16, 16, Store)
ACCESSES(__tsan_)
ACCESSES(__tsan_unaligned_)
ACCESS(__tsan_read1, 1, Load)
ACCESS(__tsan_write1, 1, Store)
#define VOLATILE_ACCESS(name, bytes, kind)                                            \
  void name(void* p) {                                                                \
    const void* const place = RETURNS_TO;                                             \
    tell_watcher([&](Watcher& it) { it.access(p, bytes, Kind::kind, place, true); }); \
  }
#define VOLATILE(bytes)                                     \
  VOLATILE_ACCESS(__tsan_volatile_read##bytes, bytes, Load) \
  VOLATILE_ACCESS(__tsan_volatile_write##bytes, bytes, Store)
VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)

void __tsan_read_range(void* p, size_t bytes) {
  const void* const place = RETURNS_TO;
  tell_watcher([&](Watcher& it) { it.access(p, bytes, Kind::Load, place); });
}
void __tsan_write_range(void* p, size_t bytes) {
  const void* const place = RETURNS_TO;
  tell_watcher([&](Watcher& it) { it.access(p, bytes, Kind::Store, place); });
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_init() {}

// ---- functions and basic blocks ----
void __tsan_func_entry(void* return_address) {
  tell_watcher([&](Watcher& it) { it.enter(return_address); });
}
void __tsan_func_exit(void*) {
  tell_watcher([&](Watcher& it) { it.leave(); });
}
void __sanitizer_cov_trace_pc() {
  const void* const place = RETURNS_TO;
  tell_watcher([&](Watcher& it) { it.basic_block(place); });
}

// ---- the language's own atomic operations: std::atomic, __atomic_* ----
#define NOTED(T, bits, name, parameters, result, value)                                 \
  result __tsan_atomic##bits##_##name parameters {                                      \
    const void* const place = RETURNS_TO;                                               \
    tell_watcher([&](Watcher& it) { it.atomic(const_cast<T*>(p), sizeof(T), place); }); \
    return value;                                                                       \
  }
#define ATOMICS(bits, T)                                                                               \
  NOTED(T, bits, load, (const volatile T* p, int), T, __atomic_load_n(p, __ATOMIC_SEQ_CST))            \
  NOTED(T, bits, store, (volatile T * p, T v, int), void, __atomic_store_n(p, v, __ATOMIC_SEQ_CST))    \
  NOTED(T, bits, exchange, (volatile T * p, T v, int), T, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)) \
  NOTED(T, bits, fetch_add, (volatile T * p, T v, int), T, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)) \
  NOTED(T, bits, fetch_sub, (volatile T * p, T v, int), T, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST)) \
  NOTED(T, bits, fetch_or, (volatile T * p, T v, int), T, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST))   \
  NOTED(T, bits, fetch_and, (volatile T * p, T v, int), T, __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)) \
  NOTED(T, bits, fetch_xor, (volatile T * p, T v, int), T, __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST)) \
  NOTED(T, bits, compare_exchange_strong, (volatile T * p, T * old, T v, int, int), bool,              \
        __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))             \
  NOTED(T, bits, compare_exchange_weak, (volatile T * p, T * old, T v, int, int), bool,                \
        __atomic_compare_exchange_n(p, old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

} // extern "C"
#pragma GCC visibility pop
#endif
