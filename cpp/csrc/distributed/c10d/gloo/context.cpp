// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; gloo/rendezvous/context.cc of the library Gloo
#include <csrc/distributed/c10d/gloo/context.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include <poll.h>

namespace reftorch::c10d::gloo {

size_t Buffer::itemsize() const {
  return c10::elementSize(dtype);
}

std::vector<Buffer> Buffer::split(int parts) const {
  std::vector<Buffer> result;
  int64_t begin = 0;
  for (int i = 0; i < parts; i++) {
    const int64_t size = numel / parts + (i < numel % parts ? 1 : 0);
    result.push_back(slice(begin, size));
    begin += size;
  }
  return result;
}

void Buffer::copy_from(const Buffer& source) const {
  if (data != source.data && bytes() > 0) {
    std::memmove(data, source.data, bytes());
  }
}

// --- the connections -------------------------------------------------------------------------------------------------

static constexpr size_t kPasswordSize = 32;

// What a rank sends when it connects.
struct Hello {
  char password[kPasswordSize];
  int32_t rank, is_for_messages;
};

static std::string new_password() {
  char bytes[kPasswordSize / 2];
  std::ifstream("/dev/urandom", std::ios::binary).read(bytes, sizeof bytes);
  std::string password;
  for (const char byte : bytes) {
    password += "0123456789abcdef"[(byte >> 4) & 15];
    password += "0123456789abcdef"[byte & 15];
  }
  return password;
}

// A client that has not said who it is.
struct Stranger {
  Socket socket;
  std::string said;
};

// Reads what the stranger says. Returns whether its Hello is complete; throws if it says something else.
static bool listen_to(Stranger& stranger, const std::string& password) {
  char bytes[sizeof(Hello)];
  stranger.said.append(bytes, stranger.socket.try_recv(bytes, sizeof bytes - stranger.said.size()));
  const size_t known = std::min(stranger.said.size(), password.size());
  C10D_CHECK_WITH(DistNetworkError, stranger.said.compare(0, known, password, 0, known) == 0, "a wrong password");
  return stranger.said.size() == sizeof(Hello);
}

// Accepts `count` connections of ranks behind this one.
static void accept_ranks(const Socket& listener, const std::string& password, int rank, int count,
                         Connections& connections, Deadline deadline) {
  std::vector<Stranger> strangers;
  while (count > 0) {
    std::vector<pollfd> ready{{listener.fd(), POLLIN, 0}};
    for (const Stranger& stranger : strangers) {
      ready.push_back({stranger.socket.fd(), POLLIN, 0});
    }
    if (::poll(ready.data(), ready.size(), std::min(milliseconds_left(deadline), 200)) <= 0) {
      check_interrupt();
      std::string missing;
      for (size_t peer = rank + 1; peer < connections.collectives.size(); peer++) {
        if (!connections.collectives[peer] || !connections.messages[peer]) {
          missing += (missing.empty() ? "" : ", ") + std::to_string(peer);
        }
      }
      C10D_CHECK_WITH(DistNetworkError, Clock::now() < deadline, "rank ", rank,
                      " waited in vain for the connections of the ranks ", missing);
      continue;
    }
    for (size_t i = ready.size() - 1; i > 0; i--) { // from the end, because strangers leave
      if (ready[i].revents == 0) {
        continue;
      }
      Stranger& stranger = strangers[i - 1];
      try {
        if (!listen_to(stranger, password)) {
          continue;
        }
        Hello hello{};
        std::memcpy(&hello, stranger.said.data(), sizeof hello);
        auto& sockets = hello.is_for_messages != 0 ? connections.messages : connections.collectives;
        C10D_CHECK_WITH(DistNetworkError, hello.rank > rank && hello.rank < static_cast<int>(sockets.size()),
                        "no rank behind this one");
        count -= sockets[hello.rank] ? 0 : 1;
        sockets[hello.rank] = std::move(stranger.socket);
      } catch (const DistNetworkError&) { // a stranger that stays one
      }
      strangers.erase(strangers.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
    if (ready[0].revents != 0) {
      try {
        if (Socket socket = listener.try_accept()) {
          strangers.push_back({std::move(socket), ""});
        }
      } catch (const std::exception&) { // too many open files: the stranger that came first makes room
        strangers.erase(strangers.begin(), strangers.begin() + (strangers.empty() ? 0 : 1));
      }
    }
  }
}

Connections connect_full_mesh(Store& store, int rank, int size, const std::string& hostname, Deadline deadline) {
  Connections connections{std::vector<Socket>(size), std::vector<Socket>(size)};
  const Socket listener = Socket::listen(is_loopback(hostname) ? "127.0.0.1" : "", 0);
  const std::string password = new_password();
  // host:port:password
  store.set(std::to_string(rank), c10::str(hostname, ":", listener.port(), ":", password));
  for (int peer = 0; peer < rank; peer++) {
    store.wait({std::to_string(peer)}, Milliseconds(milliseconds_left(deadline)));
    const std::string address = store.get(std::to_string(peer));
    const size_t second = address.rfind(':'), first = address.rfind(':', second - 1);
    C10D_CHECK_WITH(
        DistStoreError,
        second != std::string::npos && first != std::string::npos && address.size() - second - 1 == kPasswordSize,
        "rank ", rank, ": the store has no address of rank ", peer, ", but \"", address, "\"");
    const auto port = static_cast<uint16_t>(std::stoi(address.substr(first + 1, second - first - 1)));
    for (int32_t is_for_messages = 0; is_for_messages < 2; is_for_messages++) {
      Socket socket = Socket::connect(address.substr(0, first), port, deadline);
      Hello hello{{}, rank, is_for_messages};
      std::memcpy(hello.password, address.data() + second + 1, kPasswordSize);
      socket.send(&hello, sizeof hello, deadline);
      (is_for_messages != 0 ? connections.messages : connections.collectives)[peer] = std::move(socket);
    }
  }
  accept_ranks(listener, password, rank, 2 * (size - 1 - rank), connections, deadline);
  return connections;
}

// --- the step --------------------------------------------------------------------------------------------------------

void Context::exchange(int to, const void* out, size_t out_size, int from, void* in, size_t in_size, Deadline deadline,
                       size_t piece, bool in_wraps, const OnPiece& on_piece) const {
  const auto who = [&] {
    return to == from ? c10::str("rank ", to) : c10::str("rank ", to, " (to send) or rank ", from, " (to receive)");
  };
  try {
    c10d::exchange(peers_[to], out, out_size, peers_[from], in, in_size, deadline, piece, in_wraps, on_piece);
  } catch (const TimedOut&) {
    throw TimedOut("Timed out waiting for " + who());
  } catch (const ConnectionClosed& error) {
    throw ConnectionClosed(c10::str(error.what(), ": ", who(), " has ended, or has failed before"));
  }
}

void Context::exchange(int to, const Buffer& out, int from, const Buffer& in, Deadline deadline) const {
  exchange(to, out.data, out.bytes(), from, in.data, in.bytes(), deadline);
}

void Context::shutdown() const {
  for (const Socket& peer : peers_) {
    peer.shutdown();
  }
}

} // namespace reftorch::c10d::gloo
