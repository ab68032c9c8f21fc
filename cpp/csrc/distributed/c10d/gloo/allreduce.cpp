// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; gloo/allreduce.cc of the library Gloo
#include <csrc/distributed/c10d/gloo/collectives.h>
#include <csrc/distributed/c10d/gloo/math.h>

#include <algorithm>
#include <memory>

namespace reftorch::c10d::gloo {

// Bytes that are reduced while they are still in the cache.
static constexpr int64_t kPiece = 256 * 1024;

// Chunk c starts at rank c + 1 and travels once around the ring, to end at rank c. Each rank that it passes adds its
// own numbers: in step s, rank r passes on chunk r - s - 1 and receives chunk r - s - 2.
void reduce_scatter(const Context& context, const std::vector<Buffer>& chunks, ReduceOp op, Deadline deadline) {
  const auto largest = std::max_element(chunks.begin(), chunks.end(),
                                        [](const Buffer& a, const Buffer& b) { return a.numel < b.numel; });
  const int64_t itemsize = static_cast<int64_t>(largest->itemsize());
  const int64_t piece = std::min(kPiece / itemsize, largest->numel) * itemsize; // bytes
  const std::unique_ptr<char[]> scratch(new char[piece]);
  for (int step = 0; step < context.size - 1; step++) {
    const Buffer& out = chunks[context.at_distance(-step - 1)];
    const Buffer& in = chunks[context.at_distance(-step - 2)];
    context.exchange(context.next(), out.data, out.bytes(), context.previous(), scratch.get(), in.bytes(), deadline,
                     piece, /*in_wraps=*/true, [&](size_t begin, size_t size) {
                       gloo::reduce(op, in.dtype, in.data + begin, scratch.get(),
                                    static_cast<int64_t>(size) / itemsize);
                     });
  }
  if (op == ReduceOp::AVG) {
    divide(chunks[context.rank].dtype, chunks[context.rank].data, chunks[context.rank].numel, context.size);
  }
}

// Each rank passes on what it received in the step before: in step s, rank r passes on chunk r - s.
void allgather(const Context& context, const std::vector<Buffer>& chunks, Deadline deadline) {
  for (int step = 0; step < context.size - 1; step++) {
    context.exchange(context.next(), chunks[context.at_distance(-step)], context.previous(),
                     chunks[context.at_distance(-step - 1)], deadline);
  }
}

void allreduce(const Context& context, const Buffer& data, ReduceOp op, Deadline deadline) {
  const std::vector<Buffer> chunks = data.split(context.size);
  reduce_scatter(context, chunks, op, deadline);
  allgather(context, chunks, deadline);
}

// The root receives each part from the rank that has finished it.
void reduce(const Context& context, const Buffer& data, int root, ReduceOp op, Deadline deadline) {
  const std::vector<Buffer> chunks = data.split(context.size);
  reduce_scatter(context, chunks, op, deadline);
  gather(context, chunks, chunks[context.rank], root, deadline);
}

} // namespace reftorch::c10d::gloo
