// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.hpp; gloo/context.h, gloo/rendezvous/context.h of the library Gloo
//
// The connections of one rank to all others, and the step of which every collective consists: send to one rank while
// receiving from another. Left out: connections that are made at their first use, several network devices, InfiniBand.
#pragma once

#include <csrc/distributed/c10d/Store.h>
#include <csrc/distributed/c10d/socket.h>

#include <c10/core/ScalarType.h>

#include <vector>

namespace reftorch::c10d::gloo {

// Dense memory of numbers, which the caller owns.
struct Buffer {
  char* data;
  int64_t numel;
  c10::ScalarType dtype;

  size_t itemsize() const;
  size_t bytes() const {
    return numel * itemsize();
  }
  Buffer slice(int64_t begin, int64_t size) const {
    return {data + begin * itemsize(), size, dtype};
  }
  // The buffer in `parts` parts, whose sizes differ by one element at most.
  std::vector<Buffer> split(int parts) const;
  void copy_from(const Buffer& source) const;
};

struct Connections {
  std::vector<Socket> collectives, messages; // by rank; the own place is empty
};

// Connects this rank with all others, which it finds through the store; `hostname` is how the others reach this rank.
// A rank connects to the ranks with smaller numbers and accepts the connections of those with larger numbers. A client
// that does not know the password in the store is disconnected, and no rank waits for such a client. Throws
// DistNetworkError or DistStoreError if a rank does not connect in time.
Connections connect_full_mesh(Store& store, int rank, int size, const std::string& hostname, Deadline deadline);

class Context final {
 public:
  Context(int rank, int size, std::vector<Socket> peers) : rank(rank), size(size), peers_(std::move(peers)) {}

  const int rank, size;
  int next() const {
    return (rank + 1) % size;
  }
  int previous() const {
    return (rank + size - 1) % size;
  }
  // The rank at this distance in the ring, which may be negative.
  int at_distance(int distance) const {
    return ((rank + distance) % size + size) % size;
  }

  // Sends `out` to rank `to` while receiving `in` from rank `from`. The errors name both ranks. For the other arguments
  // see exchange() in socket.h.
  void exchange(int to, const Buffer& out, int from, const Buffer& in, Deadline deadline) const;
  void exchange(int to, const void* out, size_t out_size, int from, void* in, size_t in_size, Deadline deadline,
                size_t piece = SIZE_MAX, bool in_wraps = false, const OnPiece& on_piece = nullptr) const;
  void send(int to, const Buffer& out, Deadline deadline) const {
    exchange(to, out.data, out.bytes(), to, nullptr, 0, deadline);
  }
  void recv(int from, const Buffer& in, Deadline deadline) const {
    exchange(from, nullptr, 0, from, in.data, in.bytes(), deadline);
  }
  // Ends all connections, so that peers that wait for this rank learn that it has failed.
  void shutdown() const;

 private:
  const std::vector<Socket> peers_; // by rank
};

} // namespace reftorch::c10d::gloo
