// Mirrors: torch/csrc/distributed/c10d/NCCLUtils.cpp
#include <csrc/distributed/c10d/NCCLUtils.h>

namespace reftorch::c10d {

static std::string describe(ncclResult_t result, ncclComm_t comm) {
  const char* const last = ncclGetLastError(comm);
  const std::string text = last == nullptr ? "" : last;
  return c10::str("NCCL: ", ncclGetErrorString(result), text.empty() ? "" : ": ", text);
}

void check_nccl(ncclResult_t result, ncclComm_t comm, const char* what) {
  C10D_CHECK_WITH(DistBackendError, result == ncclSuccess, what, ": ", describe(result, comm));
}

NCCLComm::NCCLComm(int size, int rank, const ncclUniqueId& id, ncclConfig_t config) {
  check_nccl(ncclCommInitRankConfig(&comm_, size, id, rank, &config), nullptr, "ncclCommInitRankConfig");
}

NCCLComm::~NCCLComm() {
  if (comm_ != nullptr) {
    ncclCommDestroy(comm_);
  }
}

ncclComm_t NCCLComm::getNcclComm() {
  std::lock_guard lock(mutex_);
  C10D_CHECK_WITH(DistBackendError, comm_ != nullptr, "the NCCL communicator was aborted");
  return comm_;
}

void NCCLComm::abort() {
  std::lock_guard lock(mutex_);
  if (comm_ != nullptr) {
    ncclCommAbort(comm_);
    comm_ = nullptr;
  }
}

std::string NCCLComm::asyncError() {
  std::lock_guard lock(mutex_);
  ncclResult_t result = ncclSuccess;
  if (comm_ == nullptr || ncclCommGetAsyncError(comm_, &result) != ncclSuccess || result == ncclSuccess ||
      result == ncclInProgress) {
    return "";
  }
  return describe(result, comm_);
}

} // namespace reftorch::c10d
