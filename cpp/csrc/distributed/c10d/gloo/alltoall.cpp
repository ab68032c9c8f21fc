// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; gloo/alltoall.cc, gloo/barrier.cc of the library Gloo
#include <csrc/distributed/c10d/gloo/collectives.h>

namespace reftorch::c10d::gloo {

// In each step, all ranks send to the rank at one distance, so that every connection is used once. The sizes go first:
// a rank that expects another number of bytes than its peer sends would read the next message as data.
void alltoall(const Context& context, const std::vector<Buffer>& outputs, const std::vector<Buffer>& inputs,
              Deadline deadline) {
  std::string mistake;
  for (int distance = 1; distance < context.size; distance++) {
    const int to = context.at_distance(distance), from = context.at_distance(-distance);
    const int64_t sent = inputs[to].numel;
    int64_t received = 0;
    context.exchange(to, &sent, sizeof sent, from, &received, sizeof received, deadline);
    if (received != outputs[from].numel) {
      mistake = c10::str("rank ", from, " sends ", received, " elements to rank ", context.rank, ", which expects ",
                         outputs[from].numel, ". Hint: input_split_sizes[", context.rank, "] there must be ",
                         "output_split_sizes[", from, "] here");
    }
  }
  TORCH_CHECK_VALUE(mistake.empty(), mistake);
  outputs[context.rank].copy_from(inputs[context.rank]);
  for (int distance = 1; distance < context.size; distance++) {
    const int to = context.at_distance(distance), from = context.at_distance(-distance);
    context.exchange(to, inputs[to], from, outputs[from], deadline);
  }
}

// After step k, a rank has heard, directly or through others, of the 2^k ranks before it.
void barrier(const Context& context, Deadline deadline) {
  const char here = 1;
  char there = 0;
  for (int distance = 1; distance < context.size; distance *= 2) {
    context.exchange(context.at_distance(distance), &here, 1, context.at_distance(-distance), &there, 1, deadline);
  }
}

} // namespace reftorch::c10d::gloo
