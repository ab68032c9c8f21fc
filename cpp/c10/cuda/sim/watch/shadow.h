// Mirrors: nothing in PyTorch: what the watcher remembers of each word of memory
//
// Who wrote it, who read it, and which of its bytes were ever written. A word has 4 bytes; the shadow takes 18 times as
// many. Left out: more than two readers of a word, so a race with a third reader may be missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace cudasim::watch {

constexpr uintptr_t kWord = 4;

// One access, as a later access of the same word has to know it. `generation` counts the barriers of the block, `clock`
// the calls of __syncwarp of the thread.
struct Seen {
  uint32_t operation = 0; // 0: there was no access
  uint32_t block = 0, generation = 0, clock = 0, site = 0;
  uint16_t thread = 0;
  uint8_t bytes = 0; // a bit for each byte of the word
  bool atomic = false;
  bool volatile_store = false;
};

struct Word {
  Seen write, reads[2]; // the reads are of two different threads, the latest first
  uint16_t loads = 0, stores = 0;
  uint8_t written = 0; // a bit for each byte
};

// The words of the devices' memory. A page of them is made at the first access.
class Shadow {
 public:
  Word& at(uintptr_t address) {
    const uintptr_t page = address / kPageBytes;
    if (page != last_ || words_ == nullptr) {
      auto& found = pages_[page];
      if (found == nullptr) {
        found.reset(new Word[kPageBytes / kWord]);
      }
      last_ = page;
      words_ = found.get();
    }
    return words_[address % kPageBytes / kWord];
  }
  // Calls f(address, word) with the words of [begin, end) that anybody has used; other words of their pages may be
  // among them.
  template <typename F>
  void for_each_used(uintptr_t begin, uintptr_t end, const F& f) {
    for (uintptr_t page = begin / kPageBytes; page * kPageBytes < end; page++) {
      const auto found = pages_.find(page);
      if (found == pages_.end()) {
        continue;
      }
      const uintptr_t first = page * kPageBytes;
      for (uintptr_t at = first > begin ? first : begin / kWord * kWord; at < end && at < first + kPageBytes;
           at += kWord) {
        f(at, found->second[(at - first) / kWord]);
      }
    }
  }
  void clear() {
    pages_.clear();
    words_ = nullptr;
  }

 private:
  static constexpr uintptr_t kPageBytes = 4096;
  std::unordered_map<uintptr_t, std::unique_ptr<Word[]>> pages_;
  uintptr_t last_ = 0;
  Word* words_ = nullptr;
};

// Returns the bits of the bytes of `word` that are in [begin, end).
inline uint8_t bytes_of_word(uintptr_t word, uintptr_t begin, uintptr_t end) {
  const uintptr_t first = begin > word ? begin - word : 0, last = end < word + kWord ? end - word : kWord;
  return static_cast<uint8_t>((1u << last) - (1u << first));
}

} // namespace cudasim::watch
