// Mirrors: torch/csrc/distributed/c10d/socket.cpp
#include <csrc/distributed/c10d/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace reftorch::c10d {

// Note [Sockets and fork]
// Problem: a forked child, such as a worker of a DataLoader, inherits the descriptors of its parent. If the parent is
// killed, its connections stay open in the child, and the peers wait for a rank that is gone, until the timeout. Trick:
// a handler that fork() calls in the child closes all descriptors of this list. The list is locked around fork(), so
// that it is whole in the child. A program that is started by exec() inherits none of the descriptors (FD_CLOEXEC).
static std::mutex& open_mutex() {
  static auto* const mutex = new std::mutex; // never destroyed: a thread may close a socket while the process ends
  return *mutex;
}
static std::set<int>& open_sockets() {
  static auto* const sockets = new std::set<int>;
  return *sockets;
}

static void close_sockets_in_child() {
  for (const int fd : open_sockets()) {
    ::close(fd);
  }
  open_sockets().clear();
  open_mutex().unlock();
}

Socket::Socket(int fd) : fd_(fd) {
  static const int once =
      ::pthread_atfork([] { open_mutex().lock(); }, [] { open_mutex().unlock(); }, close_sockets_in_child);
  (void)once;
  if (fd >= 0) {
    std::lock_guard lock(open_mutex());
    open_sockets().insert(fd);
  }
}

Socket::~Socket() {
  if (fd_ >= 0) {
    std::lock_guard lock(open_mutex());
    if (open_sockets().erase(fd_) > 0) { // not in a child, where the number may be another file by now
      ::close(fd_);
    }
  }
}

// Waits until one of the descriptors is ready. On a thread of the caller, Ctrl-C ends the wait.
static void wait_for(pollfd* fds, nfds_t count, Deadline deadline) {
  for (;;) {
    const int ready = ::poll(fds, count, milliseconds_left(deadline));
    if (ready > 0) {
      return;
    }
    if (ready < 0 && errno == EINTR) {
      check_interrupt();
    } else if (Clock::now() >= deadline) {
      throw TimedOut("timed out");
    }
  }
}

[[noreturn]] static void fail(const std::string& what) {
  throw ConnectionClosed(what + ": " + std::strerror(errno));
}

// Every descriptor is non-blocking: a call moves what it can, and poll() waits for more.
static Socket prepared(int fd) {
  if (fd < 0) {
    fail("cannot open a socket");
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // small messages are sent at once
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Socket(fd);
}

static std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> resolve(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw DistNetworkError(c10::str("The hostname \"", host, "\" cannot be resolved: ", ::gai_strerror(error)));
  }
  return {found, &::freeaddrinfo};
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.rfind("127.", 0) == 0;
}

Socket Socket::listen(const std::string& host, uint16_t port) {
  const auto address = resolve(host, port, AI_PASSIVE);
  Socket socket = prepared(::socket(AF_INET, SOCK_STREAM, 0));
  const int on = 1;
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.fd_, address->ai_addr, address->ai_addrlen) != 0 || ::listen(socket.fd_, SOMAXCONN) != 0) {
    throw DistNetworkError(c10::str("The server socket cannot listen on port ", port, " of ",
                                    host.empty() ? "all addresses" : host, ": ", std::strerror(errno)));
  }
  return socket;
}

Socket Socket::connect(const std::string& host, uint16_t port, Deadline deadline) {
  for (;;) {
    const auto address = resolve(host, port, 0);
    Socket socket = prepared(::socket(AF_INET, SOCK_STREAM, 0));
    if (::connect(socket.fd_, address->ai_addr, address->ai_addrlen) == 0 || errno == EINPROGRESS) {
      int error = ETIMEDOUT;
      try {
        pollfd ready{socket.fd_, POLLOUT, 0};
        wait_for(&ready, 1, deadline);
        socklen_t size = sizeof error;
        ::getsockopt(socket.fd_, SOL_SOCKET, SO_ERROR, &error, &size);
      } catch (const TimedOut&) {
      }
      if (error == 0) {
        return socket;
      }
    }
    if (Clock::now() >= deadline) {
      throw TimedOut(c10::str("The client socket has timed out while trying to connect to ", host, ":", port,
                              ". Hint: is there a server, and does a firewall let connections pass?"));
    }
    check_interrupt();
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

Socket Socket::try_accept() const {
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) {
    return prepared(fd);
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    throw std::system_error(errno, std::generic_category());
  }
  if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) { // the listener was shut down
    fail("accept");
  }
  return {}; // no client, or one that has gone already
}

Socket Socket::accept(Deadline deadline) const {
  for (;;) {
    pollfd ready{fd_, POLLIN, 0};
    wait_for(&ready, 1, deadline);
    if (Socket client = try_accept()) {
      return client;
    }
  }
}

uint16_t Socket::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void Socket::shutdown() const {
  if (fd_ >= 0) {
    ::shutdown(fd_, SHUT_RDWR);
  }
}

void Socket::send(const void* data, size_t size, Deadline deadline) const {
  exchange(*this, data, size, *this, nullptr, 0, deadline);
}

void Socket::recv(void* data, size_t size, Deadline deadline) const {
  exchange(*this, nullptr, 0, *this, data, size, deadline);
}

size_t Socket::try_send(const void* data, size_t size) const {
  const ssize_t sent = ::send(fd_, data, size, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    fail("connection closed while sending");
  }
  return sent > 0 ? sent : 0;
}

size_t Socket::try_recv(void* data, size_t size) const {
  const ssize_t received = ::recv(fd_, data, size, 0);
  if (received == 0 && size > 0) {
    throw ConnectionClosed("connection closed by peer");
  }
  if (received < 0 && errno != EAGAIN && errno != EINTR) {
    fail("connection closed while receiving");
  }
  return received > 0 ? received : 0;
}

void exchange(const Socket& to, const void* out, size_t out_size, const Socket& from, void* in, size_t in_size,
              Deadline deadline, size_t piece, bool in_wraps, const OnPiece& on_piece) {
  size_t sent = 0, received = 0, reported = 0; // bytes
  while (sent < out_size || received < in_size) {
    size_t moved = 0;
    if (sent < out_size) {
      // At most a megabyte at once: the bytes should still be in the cache when the peer on this machine reads them.
      const size_t size = std::min<size_t>(out_size - sent, 1 << 20);
      moved += to.try_send(static_cast<const char*>(out) + sent, size);
      sent += moved;
    }
    if (received < in_size) {
      const size_t piece_end = piece < in_size - reported ? reported + piece : in_size;
      char* const where = static_cast<char*>(in) + (in_wraps ? received - reported : received);
      const size_t size = from.try_recv(where, piece_end - received);
      moved += size;
      received += size;
      if (received == piece_end && on_piece) {
        on_piece(reported, received - reported);
        reported = received;
      }
    }
    if (moved == 0) { // wait until there is something to do; poll() skips a descriptor of -1
      pollfd ready[2] = {{sent < out_size ? to.fd() : -1, POLLOUT, 0},
                         {received < in_size ? from.fd() : -1, POLLIN, 0}};
      wait_for(ready, 2, deadline);
    }
  }
}

} // namespace reftorch::c10d
