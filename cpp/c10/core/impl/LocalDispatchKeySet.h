// Mirrors: c10/core/impl/LocalDispatchKeySet.h
//
// The keys that this thread adds to every dispatch, and the keys that it removes. Three parts of the library use them.
// The autograd fallback excludes Autograd while it calls the kernel below it, so that the ops inside the kernel are not
// recorded a second time. The profiler includes its key. Function transforms include their key, so that they also see
// ops on tensors that they have not wrapped.
#pragma once

#include <c10/core/DispatchKeySet.h>

namespace reftorch::c10::impl {

struct LocalDispatchKeySet {
  DispatchKeySet included_;
  DispatchKeySet excluded_;
};

inline thread_local LocalDispatchKeySet tls_local_dispatch_key_set;

class ExcludeDispatchKeyGuard final {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet exclude) : saved_(tls_local_dispatch_key_set.excluded_) {
    tls_local_dispatch_key_set.excluded_ = saved_ | exclude;
  }
  ~ExcludeDispatchKeyGuard() {
    tls_local_dispatch_key_set.excluded_ = saved_;
  }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet saved_;
};

} // namespace reftorch::c10::impl
