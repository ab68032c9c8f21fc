// Mirrors: nothing in PyTorch; see cpp/c10/util/Mutex.h
#include <c10/util/LazyPtr.h>
#include <c10/util/Mutex.h>

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace reftorch::c10;

TEST_CASE("a mutex that a thread of the parent holds is free in the child of a fork") {
  Mutex mutex;
  std::atomic<bool> locked{false}, done{false};
  std::thread holder([&] {
    std::lock_guard<Mutex> lock(mutex);
    locked = true;
    while (!done) {
      std::this_thread::yield();
    }
  });
  while (!locked) {
    std::this_thread::yield();
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20); // a child that hangs is killed
    const bool fresh = mutex.try_lock();
    const bool excludes = !mutex.try_lock();
    mutex.unlock();
    _exit(fresh && excludes ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(!mutex.try_lock());
  done = true;
  holder.join();
  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST_CASE("a thread that waits for a mutex says so first") {
  struct Told final : LongWork {
    Told() {
      current_ = this;
    }
    ~Told() {
      current_ = nullptr;
    }
    void on_begin() override {
      times++;
      holder_may_go = true;
    }
    int times = 0;
    std::atomic<bool> holder_may_go{false};
  };
  Mutex mutex;
  Told told;
  {
    std::lock_guard<Mutex> lock(mutex);
  }
  CHECK(told.times == 0);
  std::atomic<bool> locked{false};
  std::thread holder([&] {
    std::lock_guard<Mutex> lock(mutex);
    locked = true;
    while (!told.holder_may_go) {
      std::this_thread::yield();
    }
  });
  while (!locked) {
    std::this_thread::yield();
  }
  mutex.lock();
  CHECK(told.times == 1);
  mutex.unlock();
  holder.join();
}

TEST_CASE("threads that ask for a lazy object at once get the same one") {
  for (int round = 0; round < 1000; round++) {
    LazyPtr<int> lazy;
    CHECK(lazy == nullptr);
    std::vector<int*> seen(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < seen.size(); i++) {
      threads.emplace_back([&, i] { seen[i] = lazy.get_or_make([] { return std::make_unique<int>(5); }); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (int* each : seen) {
      REQUIRE(each == lazy.get());
    }
    REQUIRE(*lazy == 5);
  }
}
