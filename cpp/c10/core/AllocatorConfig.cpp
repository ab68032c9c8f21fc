// Mirrors: c10/core/AllocatorConfig.cpp
#include <c10/core/AllocatorConfig.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace reftorch::c10::CachingAllocator {

static bool is_power_of_2(size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

static size_t floor_of_log2(size_t n) {
  size_t log = 0;
  while (n >>= 1) {
    log++;
  }
  return log;
}

// Reads a text from left to right. A token is one of the characters , : [ ] or the text between two of them.
class AcceleratorAllocatorConfig::Parser {
 public:
  explicit Parser(const std::string& text, Values& values) : values_(values) {
    bool in_word = false;
    for (const char c : text) {
      const bool is_mark = c == ',' || c == ':' || c == '[' || c == ']';
      if (is_mark || !in_word) {
        in_word = false;
        if (!std::isspace(static_cast<unsigned char>(c))) {
          tokens_.emplace_back(1, c);
          in_word = !is_mark;
        }
      } else if (!std::isspace(static_cast<unsigned char>(c))) {
        tokens_.back() += c;
      }
    }
  }

  void parse() {
    while (next_ < tokens_.size()) {
      const std::string key = take("the name of a setting");
      expect(":");
      set(key);
      if (next_ < tokens_.size()) {
        expect(",");
      }
    }
  }

 private:
  const std::string& take(const char* what) {
    TORCH_CHECK_VALUE(next_ < tokens_.size(), "the settings of the allocator end where ", what,
                      " was expected; they look like max_split_size_mb:64,garbage_collection_threshold:0.8");
    return tokens_[next_++];
  }
  void expect(const char* token) {
    const std::string& found = take(token);
    TORCH_CHECK_VALUE(found == token, "Expected '", token, "' at index ", next_ - 1,
                      " of the settings of the allocator but got '", found, "'");
  }
  bool take_bool() {
    const std::string& found = take("True or False");
    TORCH_CHECK_VALUE(found == "True" || found == "False", "Expected 'True' or 'False' at index ", next_ - 1,
                      " in ConfigTokenizer but got '", found, "'");
    return found == "True";
  }
  double take_number() {
    const std::string& found = take("a number");
    char* end = nullptr;
    const double number = std::strtod(found.c_str(), &end);
    TORCH_CHECK_VALUE(!found.empty() && *end == '\0' && number >= 0,
                      "the settings of the allocator expect a number that is not negative, but got '", found, "'");
    return number;
  }
  double take_fraction(const std::string& key) {
    const std::string& found = take("a number");
    char* end = nullptr;
    const double number = std::strtod(found.c_str(), &end);
    TORCH_CHECK_VALUE(!found.empty() && *end == '\0' && number >= 0 && number <= 1, key,
                      " is invalid, set it in [0.0, 1.0]");
    return number;
  }
  size_t take_size() {
    // A size that does not fit into 64 bits means "as much as there is".
    constexpr double kLargest = 9e18;
    return static_cast<size_t>(std::min(take_number(), kLargest));
  }
  size_t take_megabytes() {
    return std::min(take_size(), std::numeric_limits<size_t>::max() >> 20) << 20;
  }

  void set(const std::string& key) {
    if (key == "max_split_size_mb") {
      values_.max_split_size = at_least_a_large_segment(key);
    } else if (key == "max_non_split_rounding_mb") {
      values_.max_non_split_rounding_size = at_least_a_large_segment(key);
    } else if (key == "large_segment_size_mb") {
      values_.large_segment_size = at_least_a_large_segment(key);
    } else if (key == "garbage_collection_threshold") {
      const double threshold = take_number();
      TORCH_CHECK_VALUE(threshold > 0 && threshold < 1, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)");
      values_.garbage_collection_threshold = threshold;
    } else if (key == "roundup_power2_divisions") {
      set_divisions();
    } else if (key == "expandable_segments") {
      if (take_bool()) {
        TORCH_WARN_ONCE(
            "expandable_segments:True has no effect here: segments keep the size that they got from "
            "cudaMalloc. max_split_size_mb is the setting against fragmentation that works.");
      }
    } else if (key == "backend") {
      const std::string& backend = take("the name of a backend");
      TORCH_CHECK_VALUE(backend == "native", "Unknown allocator backend, the option here is native, got '", backend,
                        "'");
    } else if (key == "throw_on_cudamalloc_oom" || key == "release_lock_on_cudamalloc" ||
               key == "pinned_use_background_threads" || key == "pinned_use_cuda_host_register" ||
               key == "graph_capture_record_stream_reuse") {
      take_bool();
    } else if (key == "per_process_memory_fraction") {
      values_.per_process_memory_fraction = take_fraction(key);
    } else if (key == "pinned_num_register_threads") {
      const size_t threads = take_size();
      TORCH_CHECK_VALUE(is_power_of_2(threads), "Number of register threads has to be power of 2, got ", threads);
      constexpr size_t kMost = 128;
      TORCH_CHECK_VALUE(threads <= kMost, "Number of register threads should be less than or equal to ", kMost,
                        ", got ", threads);
    } else if (key == "pinned_reserve_segment_size_mb") {
      take_size();
    } else {
      TORCH_CHECK_VALUE(false, "Unrecognized key '", key, "' in CUDA allocator config.");
    }
  }

  size_t at_least_a_large_segment(const std::string& key) {
    const size_t bytes = take_megabytes();
    TORCH_CHECK_VALUE(bytes >= size_t(20) << 20, "CachingAllocator option ", key, " too small, must be >= 20");
    return bytes;
  }

  // Reads one number for all sizes, or a list like [256:1,512:2,>:4] of sizes in MiB and their divisions.
  void set_divisions() {
    Divisions& divisions = values_.roundup_power2_divisions;
    if (take("a number of divisions") != "[") {
      next_--;
      divisions.fill(take_divisions(/*zero=*/false));
      return;
    }
    size_t next_place = 0; // behind the last interval that was named
    for (bool first = true;; first = false) {
      const bool is_rest = next_ < tokens_.size() && tokens_[next_] == ">";
      size_t interval = 0;
      if (is_rest) {
        next_++;
      } else {
        interval = take_size();
        TORCH_CHECK_VALUE(is_power_of_2(interval), "For roundups, the intervals have to be power of 2 ");
      }
      expect(":");
      const size_t number = take_divisions(/*zero=*/true);
      if (is_rest) {
        std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(next_place), divisions.end(), number);
      } else {
        const size_t place = std::min(floor_of_log2(interval), divisions.size() - 1);
        std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(first ? 0 : place),
                  divisions.begin() + static_cast<std::ptrdiff_t>(place) + 1, number);
        next_place = place + 1;
      }
      if (take("]") == "]") {
        return;
      }
      next_--;
      expect(",");
    }
  }
  size_t take_divisions(bool zero) {
    const size_t number = take_size();
    TORCH_CHECK_VALUE(is_power_of_2(number) || (zero && number == 0),
                      "For roundups, the divisions has to be power of 2 ", zero ? "or 0 to disable roundup " : "");
    return number;
  }

  Values& values_;
  std::vector<std::string> tokens_;
  size_t next_ = 0;
};

AcceleratorAllocatorConfig::AcceleratorAllocatorConfig() {
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const char* text = std::getenv(name)) {
      parseArgs(text);
      return;
    }
  }
}

AcceleratorAllocatorConfig& AcceleratorAllocatorConfig::instance() {
  static auto* const it = new AcceleratorAllocatorConfig; // never destroyed: memory is freed while the program ends
  return *it;
}

void AcceleratorAllocatorConfig::parseArgs(const std::string& env) {
  Values values;
  Parser(env, values).parse();
  values_ = values;
  std::lock_guard<std::mutex> lock(mutex_);
  last_settings_ = env;
}

std::string AcceleratorAllocatorConfig::last_allocator_settings() {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_settings_;
}

size_t AcceleratorAllocatorConfig::roundup_power2_divisions(size_t size) {
  const Divisions& divisions = instance().values_.roundup_power2_divisions;
  constexpr size_t kLogOfMiB = 20;
  const size_t log = std::max(floor_of_log2(size), kLogOfMiB);
  return divisions[std::min(log - kLogOfMiB, divisions.size() - 1)];
}

} // namespace reftorch::c10::CachingAllocator
