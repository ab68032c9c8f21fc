// Mirrors: torch/csrc/distributed/c10d/exception.h, c10/util/Exception.h (DistError and what derives from it)
//
// The errors of torch.distributed. Python sees the classes of the same names in torch.distributed; DistQueueEmptyError
// is QueueEmptyError there.
#pragma once

#include <c10/util/Exception.h>

namespace reftorch::c10d {

class DistError : public c10::Error {
  using Error::Error;
};
// An operation of a process group failed.
class DistBackendError : public DistError {
  using DistError::DistError;
};
// A store failed, or a key did not come in time.
class DistStoreError : public DistError {
  using DistError::DistError;
};
// A connection failed.
class DistNetworkError : public DistError {
  using DistError::DistError;
};
// A queue in a store is empty.
class DistQueueEmptyError : public DistStoreError {
  using DistStoreError::DistStoreError;
};

} // namespace reftorch::c10d

// Throws an error of a type above, with the arguments as its message.
#define C10D_CHECK_WITH(error_t, cond, ...)                                            \
  do {                                                                                 \
    if (!(cond)) {                                                                     \
      ::reftorch::c10::detail::torchCheckFail<::reftorch::c10d::error_t>(__VA_ARGS__); \
    }                                                                                  \
  } while (false)
