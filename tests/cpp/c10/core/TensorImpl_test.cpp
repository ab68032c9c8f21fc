// Mirrors: nothing in PyTorch: its version counter is made with the tensor
#include <c10/core/TensorImpl.h>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace reftorch::c10;

TEST_CASE("tensors that share a version for the first time on several threads share one counter") {
  constexpr int kThreads = 4;
  for (int round = 0; round < 2000; round++) {
    VariableVersion base;
    std::vector<VariableVersion> views(kThreads);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++) {
      threads.emplace_back([&, i] {
        ready++;
        while (ready < kThreads) { // all begin together, also where there are fewer cores than threads
          std::this_thread::yield();
        }
        views[i].share_with(base);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    base.bump();
    for (VariableVersion& view : views) {
      REQUIRE(view.current_version() == 1);
    }
  }
}

TEST_CASE("a version that nobody shares counts from zero") {
  VariableVersion version;
  CHECK(version.current_version() == 0);
  version.bump();
  CHECK(version.current_version() == 1);
  VariableVersion other;
  other.share_with(version);
  other.set_version(7);
  CHECK(version.current_version() == 7);
  VariableVersion third;
  other.share_with(third); // leaves the first one
  CHECK(other.current_version() == 0);
  CHECK(version.current_version() == 7);
}
