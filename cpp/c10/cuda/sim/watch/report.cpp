// Mirrors: nothing in PyTorch: the watcher's report, as JSON for reftorch/debug/kernels
#include <c10/cuda/sim/runtime.h>
#include <c10/cuda/sim/watch/Watcher.h>

#include <dlfcn.h>

#include <cstdio>
#include <sstream>

namespace cudasim::watch {

constexpr size_t kMostProblems = 200;
constexpr size_t kMostArrayBytes = 64 << 10; // of larger arrays, the report has no elements

// ---- words ---------------------------------------------------------------------------------------------------------

// Faults of one kind at one place of the code count as one problem.
void Watcher::say(Problem problem) {
  last_blamed_ = {operation_, block_, thread_};
  const auto [it, is_new] =
      problem_at_.emplace(std::make_tuple(problem.what, problem.site, problem.other_site), problems_.size());
  if (is_new && problems_.size() < kMostProblems) {
    problems_.push_back(std::move(problem));
  }
  if (it->second < problems_.size()) {
    problems_[it->second].count++;
  }
}

std::string Watcher::describe(uintptr_t address) {
  if (device_of(reinterpret_cast<const void*>(address + kNear)) != nullptr) {
    return allocations_.describe(address);
  }
  // The names of __shared__ variables are in the file of the library; reftorch/debug/kernels reads them there.
  return static_shared_.has(address)
             ? "shared memory @" + std::to_string(address - static_shared_.begin)
             : "byte " + std::to_string(address - dynamic_shared_.begin) + " of the dynamic shared memory";
}

// Describes a thread of the grid that runs, or a whole block if `thread` is ~0.
std::string Watcher::describe_thread(uint32_t block, unsigned thread) const {
  char text[120];
  const dim3 b = block_dim_, g = grid_dim_;
  const unsigned bx = block % g.x, by = block / g.x % g.y, bz = block / g.x / g.y;
  if (thread == ~0u) {
    std::snprintf(text, sizeof text, "block (%u,%u,%u)", bx, by, bz);
  } else {
    std::snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u)", thread % b.x, thread / b.x % b.y,
                  thread / b.x / b.y, bx, by, bz);
  }
  return text;
}

std::string Watcher::name_thread(unsigned thread) const {
  const std::string text = describe_thread(0, thread);
  return text.substr(0, text.find(" of block"));
}

std::string Watcher::describe_operation(uint32_t number) {
  const Order::Operation it = order_.operation(number);
  return "operation " + std::to_string(number) + " (" + it.what + ") on stream " +
         std::to_string(order_.number_of(it.stream));
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

namespace {

struct Quoted {
  const std::string& text;
};
std::ostream& operator<<(std::ostream& out, const Quoted& quoted) {
  out << '"';
  for (const char c : quoted.text) {
    if (c == '"' || c == '\\') {
      out << '\\';
    }
    out << (c >= 0 && c < ' ' ? ' ' : c);
  }
  return out << '"';
}

struct Coordinates {
  dim3 it;
};
std::ostream& operator<<(std::ostream& out, const Coordinates& c) {
  return out << '[' << c.it.x << ',' << c.it.y << ',' << c.it.z << ']';
}

// Writes ["library", offset] for an address in the code. The compiler's call returns to the address, so the line of the
// access is the line of the byte before.
void write_place(std::ostream& out, uintptr_t place) {
  Dl_info info{};
  if (place == 0 || dladdr(reinterpret_cast<void*>(place), &info) == 0) {
    out << "null";
  } else {
    out << '[' << Quoted{info.dli_fname} << ',' << place - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase) << ']';
  }
}

// Writes the elements of a list, with commas between them.
template <typename List, typename F>
void write_list(std::ostream& out, const List& list, const F& write) {
  out << '[';
  const char* comma = "";
  for (const auto& each : list) {
    out << comma;
    write(each);
    comma = ",";
  }
  out << ']';
}

void write_sample(std::ostream& out, const Site::Sample& sample) {
  out << R"({"operation":)" << sample.operation << R"(,"block":)" << sample.block << R"(,"warp":)" << sample.warp
      << R"(,"addresses":[)";
  for (int lane = 0; lane < 32; lane++) {
    out << (lane > 0 ? "," : "");
    sample.in.has(lane) ? out << sample.in.address[static_cast<size_t>(lane)] : out << "null";
  }
  out << "]}";
}

void write_totals(std::ostream& out, const Totals& t) {
  out << R"(,"instructions":)" << t.instructions << R"(,"lanes":)" << t.lanes << R"(,"sectors":)" << t.sectors
      << R"(,"least_sectors":)" << t.least_sectors << R"(,"most_sectors":)" << t.most_sectors << R"(,"passes":)"
      << t.passes << R"(,"least_passes":)" << t.least_passes << R"(,"most_passes":)" << t.most_passes
      << R"(,"same_address":)" << t.same_address << R"(,"fewest_lanes":)" << (t.instructions > 0 ? t.fewest_lanes : 0)
      << R"(,"most_lanes":)" << t.most_lanes;
}

} // namespace

size_t Watcher::problem_count() {
  std::lock_guard<std::mutex> lock(state_);
  return problems_.size();
}

std::string Watcher::report() {
  std::lock_guard<std::mutex> lock(state_);
  std::ostringstream out;
  out << R"({"launches":)";
  write_list(out, launches_, [&](const Launch& l) {
    out << R"({"kernel":)" << Quoted{l.kernel} << R"(,"grid":)" << Coordinates{l.grid} << R"(,"block":)"
        << Coordinates{l.block} << R"(,"operation":)" << l.operation << R"(,"instrumented":)"
        << (l.is_instrumented ? "true" : "false") << '}';
  });
  static const char* const kinds[] = {"load", "store", "atomic", "block", "barrier"};
  static const char* const spaces[] = {"global", "shared", "other"};
  out << ",\n\"sites\":[null";
  for (uint32_t id = 1; id < sites_.size(); id++) {
    const Site& s = sites_[id];
    out << ",\n{\"kind\":\"" << kinds[static_cast<size_t>(sites_.kinds()[id])] << R"(","space":")"
        << spaces[static_cast<size_t>(s.space)] << R"(","bytes":)" << int(s.bytes) << R"(,"accesses":)" << s.accesses;
    write_totals(out, s.totals);
    out << R"(,"places":)";
    write_list(out, sites_.places_of(id), [&](uintptr_t place) { write_place(out, place); });
    out << R"(,"samples":)";
    write_list(out, s.samples, [&](const Site::Sample& sample) { write_sample(out, sample); });
    out << '}';
  }
  out << "],\n\"problems\":";
  write_list(out, problems_, [&](const Problem& p) {
    out << "\n{\"what\":" << Quoted{p.what} << R"(,"kernel":)" << Quoted{p.kernel} << R"(,"place":)" << Quoted{p.place}
        << R"(,"thread":)" << Quoted{p.thread} << R"(,"other_thread":)" << Quoted{p.other_thread} << R"(,"note":)"
        << Quoted{p.note} << R"(,"site":)" << p.site << R"(,"other_site":)" << p.other_site << R"(,"count":)" << p.count
        << '}';
  });
  std::vector<const Array*> arrays;
  for (const auto& [begin, a] : allocations_.living()) {
    for (const Array& array : a.arrays) {
      arrays.push_back(&array);
    }
  }
  out << ",\n\"arrays\":";
  write_list(out, arrays, [&](const Array* array) {
    out << "\n{\"name\":" << Quoted{array->name} << R"(,"itemsize":)" << array->itemsize << R"(,"shape":)";
    write_list(out, array->shape, [&](int64_t size) { out << size; });
    out << R"(,"address":)" << array->begin << R"(,"elements":[)";
    const char* comma = "";
    const uintptr_t end = array->begin + (array->bytes() <= kMostArrayBytes ? array->bytes() : 0);
    for (uintptr_t at = array->begin; at < end; at += array->itemsize) { // the writer's block and thread, loads, stores
      const Word& word = shadow_.at(at);
      const bool by_kernel = word.write.operation != 0 && word.stores > 0;
      out << comma << '[' << (by_kernel ? int64_t(word.write.block) : -1) << ','
          << (by_kernel ? int64_t(word.write.thread) : -1) << ',' << word.loads << ',' << word.stores << ']';
      comma = ",";
    }
    out << "]}";
  });
  out << "}\n";
  return out.str();
}

} // namespace cudasim::watch
