// Mirrors: nothing in PyTorch: which memory of the devices is allocated; see allocations.h
#include <c10/cuda/sim/watch/allocations.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudasim::watch {

constexpr size_t kMostFormer = 4096; // of the allocations that have ended, as many are remembered

size_t Array::bytes() const {
  size_t n = itemsize;
  for (int64_t size : shape) {
    n *= static_cast<size_t>(size);
  }
  return n;
}

static std::string counted_bytes(size_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

static std::string describe_element(const Array& array, uintptr_t address) {
  size_t index = (address - array.begin) / array.itemsize;
  std::string indices;
  for (size_t d = array.shape.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(array.shape[d]);
    indices = std::to_string(index % size) + (indices.empty() ? "" : ", ") + indices;
    index /= size;
  }
  return array.name + "[" + indices + "]";
}

static std::string describe_allocation(const Allocation& a) {
  const std::string bytes = std::to_string(a.bytes) + " bytes";
  return a.arrays.empty() ? "an array of " + bytes : a.arrays.front().name + ", which has " + bytes;
}

static std::string describe_inside(const Allocation& a, uintptr_t address) {
  for (const Array& array : a.arrays) {
    if (address >= array.begin && address < array.begin + array.bytes()) {
      return describe_element(array, address);
    }
  }
  return "byte " + std::to_string(address - a.begin) + " of " + describe_allocation(a);
}

static std::string describe_after(const Allocation& a, size_t distance) {
  return (distance == 0 ? "right" : counted_bytes(distance)) + " after the end of " + describe_allocation(a);
}

void Allocations::add(Allocation allocation) {
  std::fill(std::begin(recent_), std::end(recent_), nullptr);
  const uintptr_t begin = allocation.begin, end = begin + allocation.bytes;
  for (Allocation& former : former_) {
    former.is_reused = former.is_reused || (former.begin < end && begin < former.begin + former.bytes);
  }
  living_[begin] = std::move(allocation);
}

void Allocations::end(uintptr_t begin, uint32_t latest_operation) {
  const auto found = living_.find(begin);
  if (found == living_.end()) {
    return;
  }
  std::fill(std::begin(recent_), std::end(recent_), nullptr);
  if (former_.size() >= kMostFormer) {
    former_.erase(former_.begin(), former_.begin() + kMostFormer / 2);
  }
  former_.push_back(std::move(found->second));
  former_.back().died = latest_operation;
  living_.erase(found);
}

Allocation* Allocations::find(uintptr_t address, size_t bytes) {
  Allocation*& recent = recent_[address >> 12 & 7];
  if (recent != nullptr && recent->contains(address, bytes)) {
    return recent;
  }
  auto it = living_.upper_bound(address);
  if (it == living_.begin()) {
    return nullptr;
  }
  Allocation& a = (--it)->second;
  return a.contains(address, bytes) ? recent = &a : nullptr;
}

Allocation* Allocations::find_beginning(uintptr_t begin) {
  const auto found = living_.find(begin);
  return found == living_.end() ? nullptr : &found->second;
}

const Allocation* Allocations::find_former(uintptr_t address, size_t bytes, uint32_t operation) const {
  const auto found = std::find_if(former_.rbegin(), former_.rend(), [&](const Allocation& a) {
    return a.contains(address, bytes) && a.is_for(operation);
  });
  return found == former_.rend() ? nullptr : &*found;
}

std::string Allocations::describe(uintptr_t address) {
  if (const Allocation* a = find(address, 1)) {
    return describe_inside(*a, address);
  }
  const auto after = living_.upper_bound(address);
  const Allocation* before = after == living_.begin() ? nullptr : &std::prev(after)->second;
  const uintptr_t behind = before == nullptr ? ~uintptr_t(0) : address - (before->begin + before->bytes);
  const uintptr_t ahead = after == living_.end() ? ~uintptr_t(0) : after->second.begin - address;
  const bool is_behind = behind < kNear, is_ahead = ahead < kNear;
  // Of two arrays, the one that has a name is more likely what the kernel means.
  const bool is_behind_named = is_behind && !before->arrays.empty();
  const bool is_ahead_named = is_ahead && !after->second.arrays.empty();
  if (is_behind && (!is_ahead || (is_behind_named == is_ahead_named ? behind < ahead : is_behind_named))) {
    return describe_after(*before, behind);
  }
  if (is_ahead) {
    return counted_bytes(ahead) + " before " + describe_allocation(after->second);
  }
  const auto former =
      std::find_if(former_.rbegin(), former_.rend(), [&](const Allocation& a) { return a.contains(address, 1); });
  if (former != former_.rend()) {
    return describe_inside(*former, address) + ", which was freed";
  }
  const std::string nobodys = "memory that nobody has allocated";
  return before != nullptr ? nobodys + ", " + describe_after(*before, behind) : nobodys;
}

void Allocations::clear() {
  living_.clear();
  former_.clear();
  std::fill(std::begin(recent_), std::end(recent_), nullptr);
}

} // namespace cudasim::watch
