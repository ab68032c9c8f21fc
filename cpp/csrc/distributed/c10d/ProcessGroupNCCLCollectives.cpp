// Mirrors: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp
//
// The operations of ProcessGroupNCCL: each checks its tensors and enqueues NCCL's functions. See Note [Collectives on
// streams].
#include <csrc/distributed/c10d/ProcessGroupGlooDetail.h>
#include <csrc/distributed/c10d/ProcessGroupNCCL.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAFunctions.h>

namespace reftorch::c10d {

using at::Tensor;

// --- tensors as NCCL sees them ---------------------------------------------------------------------------------------

// Bools are bytes of 0 and 1.
static ncclDataType_t nccl_dtype(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kChar: return ncclInt8;
    case c10::kByte:
    case c10::kBool: return ncclUint8;
    case c10::kInt: return ncclInt32;
    case c10::kLong: return ncclInt64;
    case c10::kHalf: return ncclFloat16;
    case c10::kFloat: return ncclFloat32;
    case c10::kDouble: return ncclFloat64;
    case c10::kBFloat16: return ncclBfloat16;
    default:
      TORCH_CHECK_TYPE(false, "Input tensor data type is not supported for NCCL process group: ", c10::toString(dtype));
      return ncclUint8;
  }
}

// The sum of bools is whether one is true, and their product whether all are.
static ncclRedOp_t nccl_op(ReduceOp op, c10::ScalarType dtype) {
  const bool is_bool = dtype == c10::kBool;
  switch (op) {
    case ReduceOp::SUM: return is_bool ? ncclMax : ncclSum;
    case ReduceOp::PRODUCT: return is_bool ? ncclMin : ncclProd;
    case ReduceOp::MIN: return ncclMin;
    case ReduceOp::MAX: return ncclMax;
    case ReduceOp::AVG: TORCH_CHECK_TYPE(!is_bool, "Cannot use ReduceOp.AVG with boolean inputs"); return ncclAvg;
    default:
      TORCH_CHECK_VALUE(false, "Cannot use ReduceOp.", toString(op),
                        " with NCCL. Hint: gloo has the operations on bits");
      return ncclSum;
  }
}

static void check_tensor(const Tensor& tensor, const char* op) {
  TORCH_CHECK_VALUE(tensor.device().is_cuda(), op, ": Tensors must be CUDA and dense, but got one on ", tensor.device(),
                    ". Hint: backend='cpu:gloo,cuda:nccl' is for tensors of both kinds");
  TORCH_CHECK_VALUE(tensor.is_contiguous(), op, ": Tensors must be contiguous. Hint: tensor.contiguous() makes a copy");
  (void)nccl_dtype(tensor.scalar_type());
}

static void check_tensors(const Tensors& tensors, c10::Device device, const char* op) {
  for (const Tensor& tensor : tensors) {
    check_tensor(tensor, op);
    TORCH_CHECK_VALUE(tensor.device() == device, op, ": all tensors of a call must be on one device, but got ", device,
                      " and ", tensor.device());
  }
}

// The memory of a tensor; check_tensor() has looked at its device.
static void* memory(const Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->mutable_data();
}

static Tensor without_history(const Tensor& tensor) {
  return at::detail::alias_with_sizes_and_strides(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

static void record_stream(const Tensor& tensor, const c10::Stream& stream) {
  c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)
      ->recordDataPtrOnStream(tensor.storage().storage_impl_->data_ptr_, stream);
}

void ProcessGroupNCCL::check_rank(int rank, const char* op, const char* which) const {
  TORCH_CHECK_VALUE(0 <= rank && rank < size_, op, ": invalid ", which, " rank ", rank, " in a group of ", size_,
                    " ranks");
}

// --- the way to the stream -------------------------------------------------------------------------------------------

// `run` is called with the group's stream as the current one. `tensors` are those that the operation reads or writes.
WorkPtr ProcessGroupNCCL::enqueue(std::string text, const CollectiveOptions& opts, const Tensors& tensors,
                                  Tensors result, const Run& run) {
  failure_->raise();
  std::lock_guard lock(mutex_);
  TORCH_CHECK_VALUE(!coalesced_, text, ": only messages can be coalesced. Hint: batch_isend_irecv() ended badly");
  return enqueue_on(lane_of_device(tensors.at(0).device().index()), std::move(text), opts, tensors, std::move(result),
                    run);
}

WorkPtr ProcessGroupNCCL::enqueue_on(const Lane& lane, std::string text, const CollectiveOptions& opts,
                                     const Tensors& tensors, Tensors result, const Run& run, bool is_barrier) {
  const auto operation = std::make_shared<NCCLOperation>();
  operation->text = c10::str("#", ++calls_, " ", text);
  operation->place = opts.place;
  operation->comm = lane.comm;
  operation->timeout = opts.timeout == kUnsetTimeout ? getTimeout() : opts.timeout;
  operation->called = Clock::now();
  operation->is_barrier = is_barrier;
  {
    c10::Event before{c10::DeviceType::CUDA};
    before.record(c10::cuda::getCurrentCUDAStream(lane.stream.device_index()));
    before.block(lane.stream);
    const c10::StreamGuard guard(lane.stream.unwrap());
    run(lane.comm->getNcclComm(), lane.stream.stream());
    operation->end.record(lane.stream);
  }
  for (const Tensor& tensor : tensors) {
    record_stream(tensor, lane.stream);
  }
  auto work = std::make_shared<WorkNCCL>(operation, failure_, blocking_wait_, std::move(result));
  std::lock_guard lock(watched_mutex_);
  C10D_CHECK_WITH(DistBackendError, !closing_, operation->text, ": the process group was destroyed");
  watched_.push_back(operation);
  changed_.notify_all();
  return work;
}

static Tensors joined(Tensors tensors, const Tensor& tensor) {
  tensors.push_back(tensor);
  return tensors;
}

// --- one tensor for each rank ----------------------------------------------------------------------------------------

WorkPtr ProcessGroupNCCL::allreduce(const Tensor& tensor, const AllreduceOptions& opts) {
  check_tensor(tensor, "all_reduce");
  const ncclRedOp_t op = nccl_op(opts.reduceOp, tensor.scalar_type());
  return enqueue(c10::str("all_reduce(", toString(opts.reduceOp), ") of ", shape_of(tensor)), opts, {tensor}, {tensor},
                 [&](ncclComm_t comm, cudaStream_t stream) {
                   check_nccl(ncclAllReduce(memory(tensor), memory(tensor), tensor.numel(),
                                            nccl_dtype(tensor.scalar_type()), op, comm, stream),
                              comm, "all_reduce");
                 });
}

WorkPtr ProcessGroupNCCL::broadcast(const Tensor& tensor, const BroadcastOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "broadcast", "source");
  check_tensor(tensor, "broadcast");
  return enqueue(c10::str("broadcast from rank ", root, " of ", shape_of(tensor)), opts, {tensor}, {tensor},
                 [&](ncclComm_t comm, cudaStream_t stream) {
                   check_nccl(ncclBroadcast(memory(tensor), memory(tensor), tensor.numel(),
                                            nccl_dtype(tensor.scalar_type()), root, comm, stream),
                              comm, "broadcast");
                 });
}

WorkPtr ProcessGroupNCCL::reduce(const Tensor& tensor, const ReduceOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "reduce", "destination");
  check_tensor(tensor, "reduce");
  const ncclRedOp_t op = nccl_op(opts.reduceOp, tensor.scalar_type());
  return enqueue(c10::str("reduce(", toString(opts.reduceOp), ") to rank ", root, " of ", shape_of(tensor)), opts,
                 {tensor}, {tensor}, [&](ncclComm_t comm, cudaStream_t stream) {
                   check_nccl(ncclReduce(memory(tensor), memory(tensor), tensor.numel(),
                                         nccl_dtype(tensor.scalar_type()), op, root, comm, stream),
                              comm, "reduce");
                 });
}

// NCCL wants one block where the caller has a list. The copies run on the group's stream, too.
WorkPtr ProcessGroupNCCL::allgather(const Tensors& outputs, const Tensor& input, const AllgatherOptions& opts) {
  check_list(outputs, input, size_, "all_gather");
  check_tensor(input, "all_gather");
  check_tensors(outputs, input.device(), "all_gather");
  return enqueue(
      "all_gather of " + shape_of(input), opts, joined(outputs, input), outputs,
      [&](ncclComm_t comm, cudaStream_t stream) {
        const int64_t numel = input.numel();
        const Tensor block = at::detail::empty_generic({size_ * numel}, input.scalar_type(), input.device());
        check_nccl(ncclAllGather(memory(input), memory(block), numel, nccl_dtype(input.scalar_type()), comm, stream),
                   comm, "all_gather");
        for (int rank = 0; rank < size_; rank++) {
          Tensor output = without_history(outputs[rank]);
          at::copy_(output,
                    at::detail::alias_with_sizes_and_strides(block, output.sizes(), output.strides(), rank * numel));
        }
      });
}

WorkPtr ProcessGroupNCCL::reduce_scatter(const Tensor& output, const Tensors& inputs,
                                         const ReduceScatterOptions& opts) {
  check_list(inputs, output, size_, "reduce_scatter");
  check_tensor(output, "reduce_scatter");
  check_tensors(inputs, output.device(), "reduce_scatter");
  const ncclRedOp_t op = nccl_op(opts.reduceOp, output.scalar_type());
  return enqueue(
      c10::str("reduce_scatter(", toString(opts.reduceOp), ") of ", shape_of(output)), opts, joined(inputs, output),
      {output}, [&](ncclComm_t comm, cudaStream_t stream) {
        const int64_t numel = output.numel();
        const Tensor block = at::detail::empty_generic({size_ * numel}, output.scalar_type(), output.device());
        for (int rank = 0; rank < size_; rank++) {
          const Tensor input = without_history(inputs[rank]);
          Tensor place = at::detail::alias_with_sizes_and_strides(block, input.sizes(), input.strides(), rank * numel);
          at::copy_(place, input);
        }
        check_nccl(
            ncclReduceScatter(memory(block), memory(output), numel, nccl_dtype(output.scalar_type()), op, comm, stream),
            comm, "reduce_scatter");
      });
}

// --- messages, and collectives that consist of messages --------------------------------------------------------------

static void run_messages(const std::vector<std::pair<int, Tensor>>& out, const std::vector<std::pair<int, Tensor>>& in,
                         ncclComm_t comm, cudaStream_t stream, const char* op) {
  check_nccl(ncclGroupStart(), comm, op);
  for (const auto& [peer, tensor] : out) {
    check_nccl(ncclSend(memory(tensor), tensor.numel(), nccl_dtype(tensor.scalar_type()), peer, comm, stream), comm,
               op);
  }
  for (const auto& [peer, tensor] : in) {
    check_nccl(ncclRecv(memory(tensor), tensor.numel(), nccl_dtype(tensor.scalar_type()), peer, comm, stream), comm,
               op);
  }
  check_nccl(ncclGroupEnd(), comm, op);
}

// Pairs each tensor with the rank of its place.
static std::vector<std::pair<int, Tensor>> by_rank(const Tensors& tensors) {
  std::vector<std::pair<int, Tensor>> result;
  for (size_t rank = 0; rank < tensors.size(); rank++) {
    result.emplace_back(static_cast<int>(rank), tensors[rank]);
  }
  return result;
}

WorkPtr ProcessGroupNCCL::gather(const Tensors& outputs, const Tensor& input, const GatherOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "gather", "destination");
  check_tensor(input, "gather");
  if (rank_ == root) {
    check_list(outputs, input, size_, "gather");
    check_tensors(outputs, input.device(), "gather");
  } else {
    TORCH_CHECK_VALUE(outputs.empty(), "requires empty output on non-root");
  }
  return enqueue(c10::str("gather to rank ", root, " of ", shape_of(input)), opts, joined(outputs, input), outputs,
                 [&](ncclComm_t comm, cudaStream_t stream) {
                   run_messages({{root, input}}, by_rank(outputs), comm, stream, "gather");
                 });
}

WorkPtr ProcessGroupNCCL::scatter(const Tensor& output, const Tensors& inputs, const ScatterOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "scatter", "source");
  check_tensor(output, "scatter");
  if (rank_ == root) {
    check_list(inputs, output, size_, "scatter");
    check_tensors(inputs, output.device(), "scatter");
  } else {
    TORCH_CHECK_VALUE(inputs.empty(), "requires empty input on non-root");
  }
  return enqueue(c10::str("scatter from rank ", root, " of ", shape_of(output)), opts, joined(inputs, output), {output},
                 [&](ncclComm_t comm, cudaStream_t stream) {
                   run_messages(by_rank(inputs), {{root, output}}, comm, stream, "scatter");
                 });
}

WorkPtr ProcessGroupNCCL::alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) {
  for (const Tensors* list : {&outputs, &inputs}) {
    TORCH_CHECK_VALUE(list->size() == static_cast<size_t>(size_), "all_to_all: expected ", size_,
                      " tensors, one for each rank, but got ", list->size());
  }
  check_tensors(outputs, outputs[0].device(), "all_to_all");
  check_tensors(inputs, outputs[0].device(), "all_to_all");
  Tensors all = outputs;
  all.insert(all.end(), inputs.begin(), inputs.end());
  return enqueue(c10::str("all_to_all of ", c10::toString(inputs[0].scalar_type())), opts, all, outputs,
                 [&](ncclComm_t comm, cudaStream_t stream) {
                   run_messages(by_rank(inputs), by_rank(outputs), comm, stream, "all_to_all");
                 });
}

c10::DeviceIndex ProcessGroupNCCL::guess_device(int wanted) const {
  if (wanted >= 0) {
    return static_cast<c10::DeviceIndex>(wanted);
  }
  if (bound_device_ >= 0) {
    return bound_device_;
  }
  return lanes_.empty() ? static_cast<c10::DeviceIndex>(rank_ % c10::cuda::device_count()) : lanes_.begin()->first;
}

// An all_reduce of one number, for whose end wait() waits on the host.
WorkPtr ProcessGroupNCCL::barrier(const BarrierOptions& opts) {
  failure_->raise();
  std::lock_guard lock(mutex_);
  const c10::Device device(c10::DeviceType::CUDA, guess_device(opts.device));
  const Lane& lane = lane_of_device(device.index());
  return enqueue_on(
      lane, "barrier", opts, {}, {},
      [&](ncclComm_t comm, cudaStream_t stream) {
        Tensor number = at::detail::empty_generic({1}, c10::kByte, device);
        C10D_CHECK_WITH(DistBackendError, cudaMemsetAsync(memory(number), 0, 1, stream) == cudaSuccess,
                        "barrier: the device ", device, " has failed");
        check_nccl(ncclAllReduce(memory(number), memory(number), 1, ncclUint8, ncclMax, comm, stream), comm, "barrier");
      },
      /*is_barrier=*/true);
}

WorkPtr ProcessGroupNCCL::message(const Message& message) {
  const char* const op = message.is_send ? "send" : "recv";
  check_rank(message.peer, op, message.is_send ? "destination" : "source");
  TORCH_CHECK_VALUE(message.peer != rank_, op, ": invalid rank ", rank_, ": it is that of the current process");
  check_tensor(message.tensor, op);
  failure_->raise();
  std::lock_guard lock(mutex_);
  if (coalesced_) {
    coalesced_->push_back(message);
    return std::make_shared<CoalescedWork>(std::vector<WorkPtr>());
  }
  const Lane& lane = lane_of_pair(message.peer, message.tensor.device().index());
  const int peer = rank_ < message.peer ? 1 : 0; // in the communicator of the two
  const std::vector<std::pair<int, Tensor>> one{{peer, message.tensor}};
  const std::string text =
      c10::str(op, message.is_send ? " to rank " : " from rank ", message.peer, " of ", shape_of(message.tensor));
  return enqueue_on(lane, text, {}, {message.tensor}, {message.tensor}, [&](ncclComm_t comm, cudaStream_t stream) {
    run_messages(message.is_send ? one : decltype(one){}, message.is_send ? decltype(one){} : one, comm, stream, op);
  });
}

WorkPtr ProcessGroupNCCL::send(const Tensor& tensor, int to, int tag) {
  TORCH_CHECK_VALUE(tag == 0, "send: messages of NCCL have no tags, but got tag ", tag);
  return message({true, to, tensor});
}

WorkPtr ProcessGroupNCCL::recv(const Tensor& tensor, int from, int tag) {
  TORCH_CHECK_VALUE(tag == 0, "recv: messages of NCCL have no tags, but got tag ", tag);
  TORCH_CHECK_VALUE(from != -1, "recv: NCCL cannot receive from any rank. Hint: name the source");
  return message({false, from, tensor});
}

void ProcessGroupNCCL::startCoalescing() {
  std::lock_guard lock(mutex_);
  coalesced_.emplace();
}

WorkPtr ProcessGroupNCCL::endCoalescing() {
  std::vector<std::pair<int, Tensor>> out, in;
  Tensors tensors;
  std::lock_guard lock(mutex_);
  const std::vector<Message> messages = std::move(coalesced_).value_or(std::vector<Message>());
  coalesced_.reset();
  for (const Message& message : messages) {
    (message.is_send ? out : in).emplace_back(message.peer, message.tensor);
    tensors.push_back(message.tensor);
  }
  if (messages.empty()) {
    return std::make_shared<CoalescedWork>(std::vector<WorkPtr>());
  }
  check_tensors(tensors, tensors[0].device(), "batch_isend_irecv");
  const Lane& lane = lane_of_device(tensors[0].device().index());
  return enqueue_on(
      lane, c10::str("batch_isend_irecv of ", messages.size(), " messages"), {}, tensors, tensors,
      [&](ncclComm_t comm, cudaStream_t stream) { run_messages(out, in, comm, stream, "batch_isend_irecv"); });
}

} // namespace reftorch::c10d
