// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp (send, recv); gloo/transport/unbound_buffer.h of the library Gloo
//
// Messages between two ranks, with tags, and the question what another rank is doing. Left out: a limit for messages
// that nobody has asked for yet.
//
// Note [A reader that always reads]
// Problem: two ranks that send large messages to each other, and receive afterwards, would wait for each other for
// ever, once the kernel's buffers are full. Trick: one thread reads whatever arrives. If a recv() for that source and
// tag waits already, the message is read into its tensor; otherwise it is read into memory of its own, until a recv()
// asks for it. Limits: the memory grows with the messages that nobody asks for.
#pragma once

#include <csrc/distributed/c10d/Work.h>
#include <csrc/distributed/c10d/gloo/context.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace reftorch::c10d::gloo {

// What a rank may ask another: what it does, or where it is in the program.
enum class Question { doing, stack };

class Mailbox final {
 public:
  // `peers` are by rank, and the own place is empty. `answer` returns the answer to a question. The thread of the
  // mailbox calls it, but for a stack a thread of its own does: the rank may hold the GIL for a long time.
  Mailbox(int rank, std::vector<Socket> peers, std::function<std::string(Question)> answer);
  ~Mailbox();

  // Returns when the message is on its way. Throws DistNetworkError if it cannot be sent.
  void send(int to, int tag, const Buffer& data, Deadline deadline);
  // Receives into `data`, which belongs to `work`; from == -1 is any rank. `delivered` is called before the work ends.
  void recv(int from, int tag, const Buffer& data, WorkPtr work, Deadline deadline,
            std::function<void()> delivered = nullptr);
  // Asks all other ranks, and returns the answers that came before the deadline, by rank.
  std::map<int, std::string> ask_all(Question question, Deadline deadline);
  // Ends all connections; what waits fails.
  void abort(const std::string& why);

 private:
  struct Header;
  struct Message {
    int from, tag;
    std::string data;
  };
  struct Waiting {
    int from = -1, tag = 0;
    Buffer data{};
    WorkPtr work;
    Deadline deadline;
    std::function<void()> delivered;
    bool matches(int from_rank, int64_t its_tag) const {
      return (from < 0 || from == from_rank) && tag == its_tag;
    }
  };

  void read_messages();
  void read_one(int from);
  void answer_stack_questions();
  void answer(int from, int32_t number, Question question);
  void read_data(int from, int64_t tag, size_t size);
  void put(int to, const Header& header, const void* data, Deadline deadline);
  void deliver(const std::string& data, int from, const Waiting& waiting);
  void fail_those(const std::string& why, const std::function<bool(const Waiting&)>& which);

  const int rank_;
  const std::vector<Socket> peers_;
  std::vector<std::mutex> sending_; // by rank: two messages to one rank do not mix
  const std::function<std::string(Question)> answer_;

  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<Message> unasked_;
  std::deque<Waiting> waiting_;
  std::vector<std::string> gone_; // by rank: why nothing more comes from there
  std::mutex asking_;
  int32_t number_ = 0; // of the last question, so that a late answer to an earlier one is not taken for one to this
  std::map<int, std::string> answers_;
  std::deque<std::pair<int, int32_t>> stack_questions_; // who asks, and the number of the question
  bool reads_stack_ = false;
  std::atomic<bool> closing_{false};
  const Socket wake_up_; // an eventfd, which ends the wait of the thread when closing_ is set
  Thread thread_, stack_thread_;
};

} // namespace reftorch::c10d::gloo
