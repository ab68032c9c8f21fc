// Mirrors: torch/csrc/distributed/c10d/socket.h, and gloo/transport/tcp/pair.h of the library Gloo
//
// A TCP connection whose calls give up at a deadline. Left out: TLS, IPv6, Windows.
#pragma once

#include <csrc/distributed/c10d/Utils.h>

#include <csrc/distributed/c10d/exception.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace reftorch::c10d {

// The deadline of a call has passed.
class TimedOut : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};
// The peer has closed the connection, or its process has ended.
class ConnectionClosed : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

// Owns a file descriptor. A call that waits throws TimedOut at its deadline, and ConnectionClosed if the peer has gone.
// Two threads may use one socket at the same time if one sends and the other receives.
class Socket final {
 public:
  Socket() = default;
  // Takes ownership. See Note [Sockets and fork].
  explicit Socket(int fd);
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  // Listens on the address of `host`; an empty `host` stands for all addresses of the machine. Port 0 takes a free
  // port, which port() returns.
  static Socket listen(const std::string& host, uint16_t port);
  // Tries again until somebody listens there.
  static Socket connect(const std::string& host, uint16_t port, Deadline deadline);
  Socket accept(Deadline deadline) const;
  // Returns a socket without a descriptor if no client waits. Throws std::system_error if the process has too many open
  // files.
  Socket try_accept() const;
  uint16_t port() const;
  int fd() const {
    return fd_;
  }
  explicit operator bool() const {
    return fd_ >= 0;
  }
  // Ends the connection in both directions, so that a thread that waits for it wakes up.
  void shutdown() const;

  void send(const void* data, size_t size, Deadline deadline) const;
  void recv(void* data, size_t size, Deadline deadline) const;
  // Return the number of bytes that could be moved without waiting, which may be 0.
  size_t try_send(const void* data, size_t size) const;
  size_t try_recv(void* data, size_t size) const;

 private:
  int fd_ = -1;
};

// Returns whether `host` names the loopback interface: "localhost", or an address that begins with 127.
bool is_loopback(const std::string& host);

// The bytes that exchange() has received since the last call of the function: their place in the message.
using OnPiece = std::function<void(size_t begin, size_t size)>;

// Sends `out_size` bytes to one peer while it receives `in_size` bytes from another peer, or from the same one. If all
// ranks of a ring first sent and then received, large messages would fill the buffers of the kernel, and no rank would
// go on. `on_piece` is called after each `piece` bytes, and for the rest. If `in_wraps`, each piece is written to the
// start of `in`, which then needs memory for one piece only.
void exchange(const Socket& to, const void* out, size_t out_size, const Socket& from, void* in, size_t in_size,
              Deadline deadline, size_t piece = SIZE_MAX, bool in_wraps = false, const OnPiece& on_piece = nullptr);

} // namespace reftorch::c10d
