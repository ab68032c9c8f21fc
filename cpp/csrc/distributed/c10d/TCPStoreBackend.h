// Mirrors: torch/csrc/distributed/c10d/TCPStoreBackend.hpp
//
// The server of a TCPStore, and the messages that it exchanges with the clients.
//
// A client first sends kMagic. Then a question is a frame of one command, the timeout in milliseconds (int64_t), and
// words; an answer is a frame of one status and words. A frame is preceded by its size, and a word by its size, both
// uint32_t. Numbers have the byte order of the machine: all machines of a job are of one kind.
//
// Note [Bytes that nobody meant]
// Problem: anything on the network may connect to the port of a store: a scanner, a browser, a rank of another job. It
// may send nothing at all, a length of four gigabytes, or commands that do not exist. Trick: one thread serves all
// clients and never waits for one of them, so a client that stops in the middle delays nobody. The server
// disconnects a client that has not sent kMagic within kGreeting, and a client whose frame is too long or ill-formed.
// Memory is taken for bytes that have arrived, not for a length that was announced. If the process runs out of
// descriptors, the oldest client without kMagic gives up its own. A store whose host is the loopback listens there
// alone. Limits: a client that speaks the protocol is trusted, as in PyTorch. The port must be in a network that only
// the job's machines reach.
#pragma once

#include <csrc/distributed/c10d/socket.h>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace reftorch::c10d {

constexpr std::string_view kMagic = "rtstore1";
// Every frame and so every key and value is shorter.
constexpr uint32_t kMaxFrame = 64 << 20;
constexpr Milliseconds kGreeting{10'000};

namespace tcp_store {
constexpr char kSet = 's', kGet = 'g', kAdd = 'a', kCompareSet = 'x', kDelete = 'd', kCheck = 'c', kNumKeys = 'n',
               kListKeys = 'l', kWait = 'w', kAppend = 'p', kMultiSet = 'm', kQueuePush = 'q', kQueuePop = 'o',
               kQueueTryPop = 't', kQueueLen = 'e';
constexpr char kDone = '=', kFailed = '!', kTimedOut = '~', kQueueEmpty = '0';
} // namespace tcp_store

// Appends a number, or a word with its size, to a message.
template <typename T>
void put_number(std::string& message, T number) {
  message.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put_word(std::string& message, std::string_view word);
// Reads words until the end of a frame. Returns false if the frame ends in the middle of a word.
bool take_words(std::string_view frame, std::vector<std::string>& words);

class TCPStoreServer final {
 public:
  explicit TCPStoreServer(Socket listener);
  ~TCPStoreServer();
  uint16_t port() const {
    return listener_.port();
  }

 private:
  struct Question {
    char command = 0;
    Milliseconds timeout{0};
    std::vector<std::string> words;
  };
  struct Client {
    Socket socket;
    std::string in, out; // bytes that are not a whole question yet, and those that the client has not taken yet
    bool greeted = false;
    bool is_slow = false; // `out` waits until the client takes it
    bool waits = false;   // for the keys of `question`
    Question question;
    Deadline deadline = kForever; // of the greeting, or of the question that waits
  };
  using Clients = std::map<int, Client>;

  void run();
  void accept_clients();
  void read(Client& client);
  void read_questions(Client& client);
  void write(Client& client);
  void drop(Clients::iterator client);
  void drop_late(Deadline now);
  void set_deadline(Client& client, Deadline deadline);
  int milliseconds_to_next_deadline() const;

  // The dictionary. execute() returns a whole answer.
  bool is_ready(const Question& question) const;
  std::string execute(const Question& question);
  void wait_for_keys(Client& client);
  void stop_waiting(Client& client);
  void wake_waiters(const std::string& key);

  Socket listener_, epoll_, wake_up_;
  Clients clients_; // by descriptor
  std::set<std::pair<Deadline, int>> deadlines_;
  std::multimap<std::string, int> waiters_; // by the key that they wait for
  std::map<std::string, std::string> map_;
  std::map<std::string, std::deque<std::string>> queues_;
  Thread thread_;
};

} // namespace reftorch::c10d
