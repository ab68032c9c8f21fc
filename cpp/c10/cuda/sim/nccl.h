// Mirrors: nothing in PyTorch: the header of NVIDIA's NCCL, as far as reftorch calls it
//
// Collectives on the memory of CUDA devices, one communicator for each group of ranks. Each function enqueues its work
// on a stream and returns. csrc/distributed/c10d/NCCLSimulator.cpp has the functions for simulated devices; a build
// with USE_CUDA=on includes the vendor's header of this name instead.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

enum ncclResult_t {
  ncclSuccess,
  ncclUnhandledCudaError,
  ncclSystemError,
  ncclInternalError,
  ncclInvalidArgument,
  ncclInvalidUsage,
  ncclRemoteError,
  ncclInProgress
};
enum ncclDataType_t {
  ncclInt8,
  ncclUint8,
  ncclInt32,
  ncclUint32,
  ncclInt64,
  ncclUint64,
  ncclFloat16,
  ncclFloat32,
  ncclFloat64,
  ncclBfloat16
};
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };

using ncclComm_t = struct ncclComm*;

// Where the ranks of a new communicator find each other. One rank makes the id and gives it to the others.
struct ncclUniqueId {
  char internal[128];
};
// What a program may choose of a communicator. The simulator takes no notice of these numbers.
struct ncclConfig_t {
  int blocking, cgaClusterSize, minCTAs, maxCTAs;
};
#define NCCL_CONFIG_UNDEF_INT (-2147483647 - 1)
#define NCCL_CONFIG_INITIALIZER \
  {NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT}
#define NCCL_MAJOR 2
#define NCCL_MINOR 27
#define NCCL_PATCH 0

ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm); // the text of the communicator's first error

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
// Returns when all ranks have called the function.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
// Ends the operations that run, with an error on all ranks, and destroys the communicator.
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t dtype, int root, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream);

// Messages between start and end are sent and received at the same time, so their order does not matter.
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm, cudaStream_t stream);
