// Mirrors: nothing in PyTorch, whose CPU allocator keeps no blocks.
#include <c10/core/CPUAllocator.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using reftorch::c10::DataPtr;
using reftorch::c10::GetCPUAllocator;
using reftorch::c10::getCPUMemoryStats;

namespace {

constexpr size_t kKiB = size_t(1) << 10;
constexpr size_t kMiB = size_t(1) << 20;

bool all_bytes_are(const DataPtr& block, size_t n, char value) {
  const char* data = static_cast<const char*>(block.get());
  return std::all_of(data, data + n, [value](char byte) { return byte == value; });
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
// Whether the page in the middle of a block of n bytes is in memory.
bool is_resident(void* data, size_t n) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  const uintptr_t middle = (reinterpret_cast<uintptr_t>(data) + n / 2) / page * page;
  REQUIRE(mincore(reinterpret_cast<void*>(middle), page, &resident) == 0);
  return (resident & 1) != 0;
}

// Whether the kernel was asked for huge pages at an address: the flag "hg" of the mapping that holds it.
bool huge_pages_are_advised(void* address) {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(smaps, line)) {
    uintptr_t start = 0, end = 0;
    char dash = 0;
    if ((std::istringstream(line) >> std::hex >> start >> dash >> end) && dash == '-') {
      inside = start <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    } else if (inside && line.rfind("VmFlags:", 0) == 0) {
      return (line + ' ').find(" hg ") != std::string::npos;
    }
  }
  FAIL("no mapping holds the address");
  return false;
}
#endif

#ifdef __linux__
// While an object of this class exists, the kernel's thread khugepaged makes no huge pages in this process. Otherwise
// khugepaged now and then fills the gaps between the blocks in use with memory before the test looks at the gaps.
struct NoNewHugePages {
  NoNewHugePages() {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  }
  ~NoNewHugePages() {
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  }
};
#endif

} // namespace

TEST_CASE("Blocks of all sizes lie apart and keep what is written to them") {
  std::mt19937 draw(0);
  std::uniform_int_distribution<size_t> log2(6, 23);
  std::vector<std::pair<DataPtr, size_t>> blocks;
  for (int i = 0; i < 100; i++) {
    const size_t n = (size_t(1) << log2(draw)) + draw() % 1000;
    blocks.emplace_back(GetCPUAllocator()->allocate(n), n);
    std::memset(blocks.back().first.get(), i, n);
    if (i % 7 == 6) {
      blocks[i / 2].first = DataPtr();
      blocks[i / 2].second = 0;
    }
    if (i == 50) {
      GetCPUAllocator()->empty_cache();
    }
  }
  for (int i = 0; i < 100; i++) {
    CHECK(all_bytes_are(blocks[i].first, blocks[i].second, static_cast<char>(i)));
    CHECK(reinterpret_cast<uintptr_t>(blocks[i].first.get()) % 64 == 0);
  }
}

TEST_CASE("empty_cache() gives the memory of free blocks back and leaves their neighbours alone") {
  const size_t n = kMiB - 1;
  GetCPUAllocator()->empty_cache();
  const auto cached_by_other_threads = getCPUMemoryStats().cached_bytes; // 0 if this case runs alone
  std::vector<DataPtr> blocks;
  for (int i = 0; i < 64; i++) {
    blocks.push_back(GetCPUAllocator()->allocate(n));
    std::memset(blocks.back().get(), i, n);
  }
  std::vector<void*> freed;
  for (int i = 1; i < 64; i += 2) {
    freed.push_back(blocks[i].get());
    blocks[i] = DataPtr();
  }
#ifdef __linux__
  const NoNewHugePages no_new_huge_pages;
#endif
  CHECK(GetCPUAllocator()->empty_cache() >= 32 * kMiB);
  CHECK(getCPUMemoryStats().cached_bytes == cached_by_other_threads);
  for (int i = 0; i < 64; i += 2) {
    CHECK(all_bytes_are(blocks[i], n, static_cast<char>(i)));
  }
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
  for (void* data : freed) {
    CHECK(!is_resident(data, n));
  }
  CHECK(is_resident(blocks[0].get(), n));

  // The address ranges are used again: nothing new is requested from the system.
  const size_t allocations = getCPUMemoryStats().allocations;
  for (int i = 1; i < 64; i += 2) {
    blocks[i] = GetCPUAllocator()->allocate(n);
    CHECK(std::find(freed.begin(), freed.end(), blocks[i].get()) != freed.end());
    std::memset(blocks[i].get(), i, n);
  }
  CHECK(getCPUMemoryStats().allocations == allocations);
  for (int i = 0; i < 64; i++) {
    CHECK(all_bytes_are(blocks[i], n, static_cast<char>(i)));
  }
#endif
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("Huge pages are asked for where a block has more than 64 KiB") {
  // A kernel without huge pages refuses the request, here as in the allocator.
  void* mine = mmap(nullptr, 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mine != MAP_FAILED);
  const bool possible = madvise(mine, 4 * kMiB, MADV_HUGEPAGE) == 0;
  CHECK(huge_pages_are_advised(mine) == possible);
  for (const size_t n : {100 * kKiB, kMiB, 8 * kMiB, 64 * kMiB}) {
    const DataPtr block = GetCPUAllocator()->allocate(n);
    CHECK(huge_pages_are_advised(static_cast<char*>(block.get()) + n / 2) == possible);
  }
  CHECK(!huge_pages_are_advised(GetCPUAllocator()->allocate(64).get()));
  munmap(mine, 4 * kMiB);
}
#endif
