// Mirrors: torch/csrc/distributed/c10d/NCCLUtils.hpp
//
// The owner of a communicator of NCCL: NVIDIA's library in a build with USE_CUDA=on, NCCLSimulator.cpp for simulated
// devices. Left out: splitting and shrinking of communicators, registered memory, the flight recorder.
#pragma once

#include <csrc/distributed/c10d/exception.h>

#include <nccl.h>

#include <memory>
#include <mutex>
#include <string>

namespace reftorch::c10d {

// Throws DistBackendError unless `result` is ncclSuccess; `comm` may be null.
void check_nccl(ncclResult_t result, ncclComm_t comm, const char* what);

class NCCLComm final {
 public:
  // Returns when all ranks have called the constructor with the same id.
  NCCLComm(int size, int rank, const ncclUniqueId& id, ncclConfig_t config);
  ~NCCLComm();
  NCCLComm(const NCCLComm&) = delete;
  NCCLComm& operator=(const NCCLComm&) = delete;

  // Throws DistBackendError after abort().
  ncclComm_t getNcclComm();
  // Ends the operations that run, on all ranks.
  void abort();
  // Returns the first error of an operation that ran on a stream, or "".
  std::string asyncError();

 private:
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr; // null after abort()
};

} // namespace reftorch::c10d
