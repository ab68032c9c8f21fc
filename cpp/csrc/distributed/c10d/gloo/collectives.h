// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; gloo/{allreduce,allgather,alltoall,barrier,broadcast,gather,reduce,scatter}.h of the library Gloo
//
// The algorithms, one file each. All ranks of the context call the same function with buffers of the same size and
// dtype, which the caller has checked. A function returns when this rank's part is done. n is the number of ranks, and
// a step is a message to one rank while one is received.
//
//   allreduce       ring: 2 (n - 1) steps of 1/n of the data, so each rank sends less than twice the data
//   reduce_scatter  the first half of allreduce      allgather  the second half
//   broadcast       binomial tree: log2(n) steps of all data
//   reduce          reduce_scatter, then the root gathers the parts
//   gather, scatter the root receives from, or sends to, each rank in turn
//   alltoall        n - 1 steps, each with the rank one further away
//   barrier         dissemination: log2(n) steps of one byte
//
// Left out: Gloo's other algorithms for each of them (halving and doubling, Bruck's), which it chooses by size.
#pragma once

#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/gloo/context.h>

namespace reftorch::c10d::gloo {

void allreduce(const Context& context, const Buffer& data, ReduceOp op, Deadline deadline);

// At the end, chunk `rank` holds the result, and the other chunks hold partial results. The chunks may differ in size.
void reduce_scatter(const Context& context, const std::vector<Buffer>& chunks, ReduceOp op, Deadline deadline);

// At the start chunk `rank` is there, at the end all are. The chunks may differ in size.
void allgather(const Context& context, const std::vector<Buffer>& chunks, Deadline deadline);

void broadcast(const Context& context, const Buffer& data, int root, Deadline deadline);

// The result is in `data` of the root; the other ranks' `data` is overwritten.
void reduce(const Context& context, const Buffer& data, int root, ReduceOp op, Deadline deadline);

// `outputs` and `inputs` are looked at in the root alone.
void gather(const Context& context, const std::vector<Buffer>& outputs, const Buffer& input, int root,
            Deadline deadline);
void scatter(const Context& context, const Buffer& output, const std::vector<Buffer>& inputs, int root,
             Deadline deadline);

// outputs[r] receives what rank r has for this rank. Two ranks that expect different sizes of one buffer both throw.
void alltoall(const Context& context, const std::vector<Buffer>& outputs, const std::vector<Buffer>& inputs,
              Deadline deadline);

void barrier(const Context& context, Deadline deadline);

} // namespace reftorch::c10d::gloo
