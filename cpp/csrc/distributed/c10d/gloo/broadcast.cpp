// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; gloo/broadcast.cc, gloo/gather.cc, gloo/scatter.cc of the library Gloo
#include <csrc/distributed/c10d/gloo/collectives.h>

namespace reftorch::c10d::gloo {

// A binomial tree: the root sends to the rank that is half the ring away; then both send a quarter of the ring further,
// and so on. A rank receives once, before it sends.
void broadcast(const Context& context, const Buffer& data, int root, Deadline deadline) {
  const int place = context.at_distance(-root); // of this rank, counted from the root
  int distance = 1;
  while (distance < context.size) {
    distance *= 2;
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place % (2 * distance) == 0 && place + distance < context.size) {
      context.send(context.at_distance(distance), data, deadline);
    } else if (place % (2 * distance) == distance) {
      context.recv(context.at_distance(-distance), data, deadline);
    }
  }
}

void gather(const Context& context, const std::vector<Buffer>& outputs, const Buffer& input, int root,
            Deadline deadline) {
  if (context.rank != root) {
    context.send(root, input, deadline);
    return;
  }
  outputs[root].copy_from(input);
  for (int from = 0; from < context.size; from++) {
    if (from != root) {
      context.recv(from, outputs[from], deadline);
    }
  }
}

void scatter(const Context& context, const Buffer& output, const std::vector<Buffer>& inputs, int root,
             Deadline deadline) {
  if (context.rank != root) {
    context.recv(root, output, deadline);
    return;
  }
  output.copy_from(inputs[root]);
  for (int to = 0; to < context.size; to++) {
    if (to != root) {
      context.send(to, inputs[to], deadline);
    }
  }
}

} // namespace reftorch::c10d::gloo
