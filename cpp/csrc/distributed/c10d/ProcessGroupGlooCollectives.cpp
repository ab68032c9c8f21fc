// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp
//
// The collectives of ProcessGroupGloo: each checks its arguments, describes the call for the fingerprint, and hands an
// algorithm of gloo/ to the thread of the group. See Note [Fingerprints of calls].
//
// A Buffer owns nothing, and an Operand may be a copy that nobody else has. `[=]` copies only what the lambda mentions,
// so operands that it mentions only as Buffers are kept by name until the thread has used them: `keep = in`.
#include <csrc/distributed/c10d/ProcessGroupGloo.h>
#include <csrc/distributed/c10d/ProcessGroupGlooDetail.h>

#include <csrc/distributed/c10d/gloo/collectives.h>
#include <csrc/distributed/c10d/gloo/math.h>

namespace reftorch::c10d {

using at::Tensor;

WorkPtr ProcessGroupGloo::allreduce(const Tensor& tensor, const AllreduceOptions& opts) {
  gloo::check_reduction(opts.reduceOp, tensor.scalar_type());
  const Operand operand(tensor);
  const Buffer data = operand.buffer("all_reduce");
  const char* const op = toString(opts.reduceOp);
  return enqueue(
      {c10::str("all_reduce ", op, key_of(tensor)), c10::str("all_reduce(", op, ") of ", shape_of(tensor)), ""}, opts,
      {tensor}, [=](Deadline deadline) {
        gloo::allreduce(*context_, data, opts.reduceOp, deadline);
        operand.copy_back();
      });
}

WorkPtr ProcessGroupGloo::broadcast(const Tensor& tensor, const BroadcastOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "broadcast", "source");
  const Operand operand(tensor);
  const Buffer data = operand.buffer("broadcast");
  return enqueue({c10::str("broadcast ", root, key_of(tensor)),
                  c10::str("broadcast from rank ", root, " of ", shape_of(tensor)), ""},
                 opts, {tensor}, [=](Deadline deadline) {
                   gloo::broadcast(*context_, data, root, deadline);
                   operand.copy_back();
                 });
}

WorkPtr ProcessGroupGloo::reduce(const Tensor& tensor, const ReduceOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "reduce", "destination");
  gloo::check_reduction(opts.reduceOp, tensor.scalar_type());
  const Operand operand(tensor);
  // Ranks other than the root keep their numbers, so the algorithm gets memory that it may overwrite.
  const Tensor scratch = rank_ == root ? operand.dense : at::clone(operand.dense);
  const Buffer data{static_cast<char*>(at::host_data(scratch, "reduce")), scratch.numel(), scratch.scalar_type()};
  const char* const op = toString(opts.reduceOp);
  return enqueue({c10::str("reduce ", root, op, key_of(tensor)),
                  c10::str("reduce(", op, ") to rank ", root, " of ", shape_of(tensor)), ""},
                 opts, {tensor}, [=, keep = scratch](Deadline deadline) {
                   gloo::reduce(*context_, data, root, opts.reduceOp, deadline);
                   operand.copy_back();
                 });
}

WorkPtr ProcessGroupGloo::allgather(const Tensors& outputs, const Tensor& input, const AllgatherOptions& opts) {
  check_list(outputs, input, size_, "all_gather");
  const std::vector<Operand> out = operands(outputs);
  const Operand in(input);
  const std::vector<Buffer> chunks = buffers(out, "all_gather");
  const Buffer own = in.buffer("all_gather");
  return enqueue({"all_gather " + key_of(input), "all_gather of " + shape_of(input), ""}, opts, outputs,
                 [=, keep = in](Deadline deadline) {
                   chunks[rank_].copy_from(own);
                   gloo::allgather(*context_, chunks, deadline);
                   copy_back(out);
                 });
}

WorkPtr ProcessGroupGloo::allreduce_coalesced(const Tensors& tensors, const AllreduceOptions& opts) {
  for (const Tensor& tensor : tensors) {
    gloo::check_reduction(opts.reduceOp, tensor.scalar_type());
  }
  const std::vector<Operand> all = operands(tensors);
  const std::vector<Buffer> data = buffers(all, "all_reduce");
  const char* const op = toString(opts.reduceOp);
  return enqueue(
      {c10::str("all_reduce ", op, key_of(tensors)), c10::str("all_reduce(", op, ") of ", shapes_of(tensors)), ""},
      opts, tensors,
      [=](Deadline deadline) {
        for (const Buffer& each : data) {
          gloo::allreduce(*context_, each, opts.reduceOp, deadline);
        }
        copy_back(all);
      },
      tensors);
}

WorkPtr ProcessGroupGloo::allgather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                              const AllgatherOptions& opts) {
  Tensors flat; // the outputs, rank after rank for each input
  for (size_t i = 0; i < inputs.size(); i++) {
    const Tensors parts = column(outputs, i);
    check_list(parts, inputs[i], size_, "all_gather");
    flat.insert(flat.end(), parts.begin(), parts.end());
  }
  const std::vector<Operand> out = operands(flat), in = operands(inputs);
  const std::vector<Buffer> chunks = buffers(out, "all_gather"), own = buffers(in, "all_gather");
  return enqueue(
      {"all_gather " + key_of(inputs), "all_gather of " + shapes_of(inputs), ""}, opts, flat,
      [=, keep = in](Deadline deadline) {
        for (size_t i = 0; i < own.size(); i++) {
          const auto first = chunks.begin() + static_cast<int64_t>(i) * size_;
          const std::vector<Buffer> parts(first, first + size_);
          parts[rank_].copy_from(own[i]);
          gloo::allgather(*context_, parts, deadline);
        }
        copy_back(out);
      },
      inputs);
}

WorkPtr ProcessGroupGloo::reduce_scatter(const Tensor& output, const Tensors& inputs,
                                         const ReduceScatterOptions& opts) {
  gloo::check_reduction(opts.reduceOp, output.scalar_type());
  check_list(inputs, output, size_, "reduce_scatter");
  const Operand out(output);
  Tensors scratch; // the partial sums need memory that the caller does not look at
  std::vector<Buffer> chunks;
  for (const Tensor& input : inputs) {
    scratch.push_back(at::clone(Operand(input).dense));
    chunks.push_back(
        {static_cast<char*>(at::host_data(scratch.back(), "reduce_scatter")), input.numel(), input.scalar_type()});
  }
  const Buffer own = out.buffer("reduce_scatter");
  const char* const op = toString(opts.reduceOp);
  return enqueue(
      {c10::str("reduce_scatter ", op, key_of(output)), c10::str("reduce_scatter(", op, ") of ", shape_of(output)), ""},
      opts, {output}, [=, keep = scratch](Deadline deadline) {
        gloo::reduce_scatter(*context_, chunks, opts.reduceOp, deadline);
        own.copy_from(chunks[rank_]);
        out.copy_back();
      });
}

WorkPtr ProcessGroupGloo::gather(const Tensors& outputs, const Tensor& input, const GatherOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "gather", "destination");
  if (rank_ == root) {
    check_list(outputs, input, size_, "gather");
  } else {
    TORCH_CHECK_VALUE(outputs.empty(), "gather: requires empty output on non-root, but got ", outputs.size(),
                      " tensors. Hint: gather_list is for the rank that receives");
  }
  const std::vector<Operand> out = operands(outputs);
  const Operand in(input);
  const std::vector<Buffer> parts = buffers(out, "gather");
  const Buffer own = in.buffer("gather");
  return enqueue(
      {c10::str("gather ", root, key_of(input)), c10::str("gather to rank ", root, " of ", shape_of(input)), ""}, opts,
      outputs, [=, keep = in](Deadline deadline) {
        gloo::gather(*context_, parts, own, root, deadline);
        copy_back(out);
      });
}

WorkPtr ProcessGroupGloo::scatter(const Tensor& output, const Tensors& inputs, const ScatterOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  check_rank(root, "scatter", "source");
  if (rank_ == root) {
    check_list(inputs, output, size_, "scatter");
  } else {
    TORCH_CHECK_VALUE(inputs.empty(), "scatter: requires empty input on non-root, but got ", inputs.size(),
                      " tensors. Hint: scatter_list is for the rank that sends");
  }
  const std::vector<Operand> in = operands(inputs);
  const Operand out(output);
  const std::vector<Buffer> parts = buffers(in, "scatter");
  const Buffer own = out.buffer("scatter");
  return enqueue(
      {c10::str("scatter ", root, key_of(output)), c10::str("scatter from rank ", root, " of ", shape_of(output)), ""},
      opts, {output}, [=, keep = in](Deadline deadline) {
        gloo::scatter(*context_, own, parts, root, deadline);
        out.copy_back();
      });
}

WorkPtr ProcessGroupGloo::alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) {
  for (const Tensors* list : {&outputs, &inputs}) {
    TORCH_CHECK_VALUE(list->size() == static_cast<size_t>(size_), "all_to_all: expected ", size_,
                      " tensors, one for each rank, but got ", list->size());
    for (const Tensor& tensor : *list) {
      TORCH_CHECK_VALUE(tensor.scalar_type() == inputs[0].scalar_type(), "all_to_all: expected one dtype, but got ",
                        c10::toString(inputs[0].scalar_type()), " and ", c10::toString(tensor.scalar_type()));
    }
  }
  TORCH_CHECK_VALUE(outputs[rank_].numel() == inputs[rank_].numel(), "all_to_all: rank ", rank_, " sends ",
                    inputs[rank_].numel(), " elements to itself and expects ", outputs[rank_].numel());
  const std::vector<Operand> out = operands(outputs), in = operands(inputs);
  const std::vector<Buffer> to = buffers(out, "all_to_all"), from = buffers(in, "all_to_all");
  const char* const dtype = c10::toString(inputs[0].scalar_type());
  return enqueue({c10::str("all_to_all ", dtype), c10::str("all_to_all of ", dtype), ""}, opts, outputs,
                 [=, keep = in](Deadline deadline) {
                   gloo::alltoall(*context_, to, from, deadline);
                   copy_back(out);
                 });
}

WorkPtr ProcessGroupGloo::barrier(const BarrierOptions& opts) {
  return enqueue({"barrier", "barrier", ""}, opts, {}, [=](Deadline deadline) { gloo::barrier(*context_, deadline); });
}

} // namespace reftorch::c10d
