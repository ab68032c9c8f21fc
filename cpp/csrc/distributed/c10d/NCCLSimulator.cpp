// Mirrors: nothing in PyTorch: the simulator's NCCL, over the algorithms of gloo/
//
// A collective is one operation of its stream, like a kernel: a host function that runs on the stream's thread, where
// the memory of the device can be reached. It moves the bytes over TCP between threads or processes of one machine,
// because simulated devices are part of their processes. Left out: everything but the functions of nccl.h.
//
// NVIDIA's NCCL waits for ever if the ranks call different collectives. Here each collective first sends the next rank
// a text that describes the call, and a rank that gets another text reports both; compare Note [Fingerprints of calls].
#include <csrc/distributed/c10d/TCPStore.h>
#include <csrc/distributed/c10d/gloo/collectives.h>
#include <csrc/distributed/c10d/gloo/math.h>

#include <nccl.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace c10 = reftorch::c10;
namespace c10d = reftorch::c10d;
namespace gloo = reftorch::c10d::gloo;
using c10d::Deadline;
using gloo::Buffer;

struct ncclComm : std::enable_shared_from_this<ncclComm> {
  int rank = 0, size = 1;
  std::shared_ptr<c10d::TCPStore> store;
  std::unique_ptr<const gloo::Context> context;
  int64_t calls = 0;
  std::shared_ptr<ncclComm> self; // keeps a communicator that was not destroyed; operations that run keep it, too

  std::mutex mutex;
  ncclResult_t result = ncclSuccess; // the first error, and its text
  std::string error;
  const char* refusal = ""; // why a call was refused; the communicator goes on

  void fail(ncclResult_t kind, const std::string& text) {
    {
      std::lock_guard lock(mutex);
      if (result != ncclSuccess) {
        return;
      }
      error = text;
      result = kind;
    }
    context->shutdown(); // half a collective may be on its way; and the peers shall learn of it
  }
  bool failed() {
    std::lock_guard lock(mutex);
    return result != ncclSuccess;
  }
};

namespace {

// The stores of ids that this process has made, until its rank takes part.
std::mutex pending_mutex;
auto* const pending = new std::map<int, std::shared_ptr<c10d::TCPStore>>;

constexpr c10d::Milliseconds kTimeToCome{60'000};

const std::array kNames{"Int8",   "Uint8",   "Int32",   "Uint32",  "Int64",
                        "Uint64", "Float16", "Float32", "Float64", "Bfloat16"};
const std::array kOps{"sum", "prod", "max", "min", "avg"};

c10::ScalarType dtype_of(ncclDataType_t dtype) {
  switch (dtype) {
    case ncclInt8: return c10::kChar;
    case ncclUint8: return c10::kByte;
    case ncclInt32: return c10::kInt;
    case ncclInt64: return c10::kLong;
    case ncclFloat16: return c10::kHalf;
    case ncclFloat32: return c10::kFloat;
    case ncclFloat64: return c10::kDouble;
    case ncclBfloat16: return c10::kBFloat16;
    default:
      TORCH_CHECK(false, "the simulator's NCCL has no numbers of type nccl", kNames.at(dtype));
      return c10::kByte;
  }
}

c10d::ReduceOp op_of(ncclRedOp_t op) {
  switch (op) {
    case ncclProd: return c10d::ReduceOp::PRODUCT;
    case ncclMax: return c10d::ReduceOp::MAX;
    case ncclMin: return c10d::ReduceOp::MIN;
    case ncclAvg: return c10d::ReduceOp::AVG;
    default: return c10d::ReduceOp::SUM;
  }
}

Buffer buffer(const void* data, size_t count, ncclDataType_t dtype) {
  return {static_cast<char*>(const_cast<void*>(data)), static_cast<int64_t>(count), dtype_of(dtype)};
}

// --- an operation of a stream ----------------------------------------------------------------------------------------

struct Operation {
  std::shared_ptr<ncclComm> comm;
  std::string text; // empty for messages, which carry their own header
  std::function<void(const gloo::Context&)> run;
};

void check_same_call(ncclComm& comm, const std::string& text) {
  if (comm.size == 1 || text.empty()) {
    return;
  }
  const gloo::Context& context = *comm.context;
  std::array<char, 96> ours{}, theirs{};
  const std::string numbered = c10::str("#", ++comm.calls, " ", text);
  std::memcpy(ours.data(), numbered.data(), std::min(numbered.size(), ours.size() - 1));
  context.exchange(context.next(), ours.data(), ours.size(), context.previous(), theirs.data(), theirs.size(),
                   c10d::kForever);
  theirs.back() = '\0';
  TORCH_CHECK_VALUE(ours == theirs, "the ranks make different calls: here ", ours.data(), "; rank ", context.previous(),
                    " ", theirs.data(),
                    ". Hint: all ranks must call the same collectives in the same order, with tensors of the same size "
                    "and dtype");
}

// Runs on the thread of the stream, so nothing may be thrown.
void run_operation(void* data) {
  const std::unique_ptr<Operation> operation(static_cast<Operation*>(data));
  ncclComm& comm = *operation->comm;
  if (comm.failed()) {
    return;
  }
  try {
    check_same_call(comm, operation->text);
    operation->run(*comm.context);
  } catch (const c10d::DistNetworkError& error) {
    comm.fail(ncclRemoteError, error.what());
  } catch (const std::exception& error) {
    comm.fail(ncclInvalidUsage, error.what());
  }
}

ncclResult_t enqueue(ncclComm_t comm, cudaStream_t stream, std::string text,
                     std::function<void(const gloo::Context&)> run) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone) {
    std::lock_guard lock(comm->mutex); // the operation below can run only once; a graph would run it at each launch
    comm->refusal =
        "the simulator's NCCL cannot be part of a CUDA graph, as NVIDIA's can: call collectives outside of "
        "the capture, between the replays";
    return ncclInvalidUsage;
  }
  auto* const operation = new Operation{comm->shared_from_this(), std::move(text), std::move(run)};
  return cudaLaunchHostFunc(stream, &run_operation, operation) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

std::string describe(const char* name, const char* detail, size_t count, ncclDataType_t dtype) {
  return c10::str(name, "(", detail, ") of ", count, " ", kNames.at(dtype));
}

// --- messages --------------------------------------------------------------------------------------------------------

struct Message {
  bool is_send;
  int peer;
  Buffer buffer;
};

// The messages of the calling thread between ncclGroupStart() and ncclGroupEnd().
struct Group {
  int depth = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Message> messages;
};
thread_local Group group;

// What travels before a message. A rank that calls a collective instead sends other bytes.
struct Header {
  uint64_t magic = 0x6567617373656d;
  int64_t numel = 0, dtype = 0;
};

// Sends and receives at once, by the distance of the ranks: in round d a rank sends to the rank at distance d and
// receives from the rank at distance -d. A rank in round d only waits for ranks that come to this round.
void exchange_messages(const gloo::Context& context, const std::vector<Message>& messages) {
  for (int distance = 0; distance < context.size; distance++) {
    const int to = context.at_distance(distance), from = context.at_distance(-distance);
    std::vector<Buffer> out, in;
    for (const Message& message : messages) {
      if (message.is_send && message.peer == to) {
        out.push_back(message.buffer);
      } else if (!message.is_send && message.peer == from) {
        in.push_back(message.buffer);
      }
    }
    if (distance == 0) {
      TORCH_CHECK_VALUE(out.size() == in.size(), "a rank sends itself ", out.size(), " messages and receives ",
                        in.size());
      for (size_t i = 0; i < out.size(); i++) {
        TORCH_CHECK_VALUE(out[i].bytes() == in[i].bytes(), "a message to the rank itself has two sizes");
        in[i].copy_from(out[i]);
      }
      continue;
    }
    for (size_t i = 0; i < std::max(out.size(), in.size()); i++) {
      const Buffer none{nullptr, 0, c10::kByte};
      const Buffer& sent = i < out.size() ? out[i] : none;
      const Buffer& received = i < in.size() ? in[i] : none;
      const Header ours{Header().magic, sent.numel, static_cast<int64_t>(sent.dtype)};
      Header theirs;
      context.exchange(to, &ours, i < out.size() ? sizeof ours : 0, from, &theirs, i < in.size() ? sizeof theirs : 0,
                       c10d::kForever);
      TORCH_CHECK_VALUE(
          i >= in.size() || (theirs.magic == Header().magic && theirs.numel == received.numel &&
                             theirs.dtype == static_cast<int64_t>(received.dtype)),
          "rank ", from,
          theirs.magic == Header().magic ? c10::str(" sends ", theirs.numel, " elements of ",
                                                    c10::toString(static_cast<c10::ScalarType>(theirs.dtype)))
                                         : std::string(" makes another call than a send"),
          ", and rank ", context.rank, " receives ", received.numel, " of ", c10::toString(received.dtype));
      context.exchange(to, sent, from, received, c10d::kForever);
    }
  }
}

ncclResult_t add_message(ncclComm_t comm, cudaStream_t stream, const Message& message) {
  if (message.peer < 0 || message.peer >= comm->size) {
    return ncclInvalidArgument;
  }
  const bool is_alone = group.depth == 0;
  if (is_alone) {
    ncclGroupStart();
  }
  group.comm = comm;
  group.stream = stream;
  group.messages.push_back(message);
  return is_alone ? ncclGroupEnd() : ncclSuccess;
}

} // namespace

// --- communicators ---------------------------------------------------------------------------------------------------

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_MAJOR * 10000 + NCCL_MINOR * 100 + NCCL_PATCH;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  static constexpr std::array names{"no error",
                                    "unhandled cuda error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage",
                                    "remote process exited or there was a network error",
                                    "NCCL operation in progress"};
  return names.at(result);
}

const char* ncclGetLastError(ncclComm_t comm) {
  if (comm == nullptr) {
    return "";
  }
  std::lock_guard lock(comm->mutex);
  return comm->error.empty() ? comm->refusal : comm->error.c_str(); // which is written once
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  try {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    auto store = std::make_shared<c10d::TCPStore>("127.0.0.1", options);
    *id = {};
    const std::string port = std::to_string(store->getPort());
    std::memcpy(id->internal, port.data(), port.size());
    std::lock_guard lock(pending_mutex);
    (*pending)[store->getPort()] = std::move(store);
    return ncclSuccess;
  } catch (const std::exception&) {
    return ncclSystemError;
  }
}

// A device belongs to one rank, as with NVIDIA's library. Devices of one number are one device of the machine, although
// each process simulates devices of its own; CUDA_VISIBLE_DEVICES may give it another number in the process.
static std::string shared_device(ncclComm& comm) {
  int index = 0;
  cudaGetDevice(&index);
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, index);
  const int device = properties.pciDeviceID;
  comm.store->set(c10::str("device/", comm.rank), std::to_string(device));
  std::string mistake;
  for (int peer = 0; peer < comm.size; peer++) {
    if (std::stoi(comm.store->get(c10::str("device/", peer))) == device && peer != comm.rank) {
      mistake = c10::str("Duplicate GPU detected : rank ", peer, " and rank ", comm.rank, " both on CUDA device ",
                         device, ". Hint: torch.cuda.set_device(rank), or tensors on cuda:rank");
    }
  }
  return mistake;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* handle, int size, ncclUniqueId id, int rank, ncclConfig_t*) {
  const auto comm = std::make_shared<ncclComm>();
  comm->rank = rank;
  comm->size = size;
  try {
    const int port = std::stoi(id.internal);
    {
      std::lock_guard lock(pending_mutex);
      if (const auto found = pending->find(port); found != pending->end() && rank == 0) {
        comm->store = std::move(found->second);
        pending->erase(found);
      }
    }
    if (comm->store == nullptr) {
      c10d::TCPStoreOptions options;
      options.port = static_cast<uint16_t>(port);
      options.timeout = kTimeToCome;
      comm->store = std::make_shared<c10d::TCPStore>("127.0.0.1", options);
    }
    comm->store->setTimeout(kTimeToCome);
    auto connections =
        gloo::connect_full_mesh(*comm->store, rank, size, "127.0.0.1", c10d::deadline_after(kTimeToCome));
    comm->context = std::make_unique<gloo::Context>(rank, size, std::move(connections.collectives));
    const std::string mistake = shared_device(*comm);
    gloo::barrier(*comm->context, c10d::deadline_after(kTimeToCome)); // all have read what the others have written
    if (!mistake.empty()) {
      comm->fail(ncclInvalidUsage, mistake);
    }
  } catch (const std::exception& error) {
    if (comm->context == nullptr) {
      return ncclSystemError;
    }
    comm->fail(ncclRemoteError, error.what());
  }
  comm->self = comm;
  *handle = comm.get();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const auto last = std::move(comm->self);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->fail(ncclSystemError, "the communicator was aborted");
  return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  std::lock_guard lock(comm->mutex);
  *error = comm->result;
  return ncclSuccess;
}

// --- collectives -----------------------------------------------------------------------------------------------------

// NCCL divides sums of integers and drops the remainder; gloo/math.h divides floats only.
static void reduce_in_place(const gloo::Context& context, const Buffer& data, ncclRedOp_t op,
                            const std::function<void(c10d::ReduceOp)>& reduce) {
  const bool divides = op == ncclAvg && !c10::isFloatingType(data.dtype);
  reduce(divides ? c10d::ReduceOp::SUM : op_of(op));
  if (divides) {
    gloo::divide(data.dtype, data.data, data.numel, context.size);
  }
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, describe("ncclAllReduce", kOps.at(op), count, dtype), [=](const gloo::Context& context) {
    const Buffer data = buffer(to, count, dtype);
    data.copy_from(buffer(from, count, dtype));
    reduce_in_place(context, data, op,
                    [&](c10d::ReduceOp reduce_op) { gloo::allreduce(context, data, reduce_op, c10d::kForever); });
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t dtype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return enqueue(comm, stream, describe("ncclBroadcast", c10::str("from rank ", root).c_str(), count, dtype),
                 [=](const gloo::Context& context) {
                   const Buffer data = buffer(to, count, dtype);
                   if (context.rank == root) {
                     data.copy_from(buffer(from, count, dtype));
                   }
                   gloo::broadcast(context, data, root, c10d::kForever);
                 });
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  const std::string detail = c10::str(kOps.at(op), " to rank ", root);
  return enqueue(comm, stream, describe("ncclReduce", detail.c_str(), count, dtype), [=](const gloo::Context& context) {
    const Buffer source = buffer(from, count, dtype);
    const std::unique_ptr<char[]> scratch(new char[source.bytes()]); // the algorithm overwrites what it gets
    const Buffer data{scratch.get(), source.numel, source.dtype};
    data.copy_from(source);
    reduce_in_place(context, data, op,
                    [&](c10d::ReduceOp reduce_op) { gloo::reduce(context, data, root, reduce_op, c10d::kForever); });
    if (context.rank == root) {
      buffer(to, count, dtype).copy_from(data);
    }
  });
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclComm_t comm,
                           cudaStream_t stream) {
  return enqueue(comm, stream, describe("ncclAllGather", "", count, dtype), [=](const gloo::Context& context) {
    const std::vector<Buffer> chunks = buffer(to, count * context.size, dtype).split(context.size);
    chunks[context.rank].copy_from(buffer(from, count, dtype));
    gloo::allgather(context, chunks, c10d::kForever);
  });
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t dtype, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, describe("ncclReduceScatter", kOps.at(op), count, dtype),
                 [=](const gloo::Context& context) {
                   const Buffer source = buffer(from, count * context.size, dtype);
                   const std::unique_ptr<char[]> scratch(new char[source.bytes()]);
                   const Buffer data{scratch.get(), source.numel, source.dtype};
                   data.copy_from(source);
                   const Buffer own = data.split(context.size)[context.rank];
                   reduce_in_place(context, own, op, [&](c10d::ReduceOp reduce_op) {
                     gloo::reduce_scatter(context, data.split(context.size), reduce_op, c10d::kForever);
                   });
                   buffer(to, count, dtype).copy_from(own);
                 });
}

ncclResult_t ncclGroupStart() {
  group.depth++;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--group.depth > 0 || group.messages.empty()) {
    return ncclSuccess;
  }
  std::vector<Message> messages;
  messages.swap(group.messages);
  return enqueue(group.comm, group.stream, "",
                 [messages](const gloo::Context& context) { exchange_messages(context, messages); });
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add_message(comm, stream, {true, peer, buffer(from, count, dtype)});
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm, cudaStream_t stream) {
  return add_message(comm, stream, {false, peer, buffer(to, count, dtype)});
}
