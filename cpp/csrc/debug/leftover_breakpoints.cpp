// Mirrors: nothing in PyTorch: its developers restart a process that a debugger spoiled.
//
// Left out: processors other than x86-64 and arm64; code that was not loaded from a file.
#include <csrc/debug/leftover_breakpoints.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace reftorch::torch::debug {
namespace {

#if defined(__x86_64__)
constexpr std::array<unsigned char, 1> kBreakpoint{0xcc}; // int3; the thread stops behind the instruction
constexpr std::uintptr_t kStopsBehind = 1;
std::uintptr_t program_counter(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
void go_on_at(ucontext_t& context, std::uintptr_t address) {
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
}
#elif defined(__aarch64__)
constexpr std::array<unsigned char, 4> kBreakpoint{0x00, 0x00, 0x20, 0xd4}; // brk #0; the thread stops there
constexpr std::uintptr_t kStopsBehind = 0;
std::uintptr_t program_counter(const ucontext_t& context) {
  return context.uc_mcontext.pc;
}
void go_on_at(ucontext_t& context, std::uintptr_t address) {
  context.uc_mcontext.pc = address;
}
#else
#error "Which instruction is a breakpoint on this processor? See leftover_breakpoints.h."
#endif

using Instruction = std::array<unsigned char, kBreakpoint.size()>;

// Code that was loaded from a file: [begin, end) holds the bytes of `path` from `offset` on.
struct Segment {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  unsigned long offset = 0;
  std::string path;
};

// Returns whether the file is the one that was loaded. A file that was replaced since does not tell what the code was.
bool is_what_was_loaded(const std::string& path, unsigned major_device, unsigned minor_device, unsigned long inode) {
  struct stat now{};
  return stat(path.c_str(), &now) == 0 && now.st_ino == inode && major(now.st_dev) == major_device &&
         minor(now.st_dev) == minor_device;
}

std::vector<Segment> loaded_code() {
  std::vector<Segment> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Segment segment;
    unsigned long inode = 0;
    unsigned major_device = 0;
    unsigned minor_device = 0;
    std::array<char, 5> access{};
    int path_at = 0;
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &segment.begin, &segment.end,
                                   access.data(), &segment.offset, &major_device, &minor_device, &inode, &path_at);
    if (fields < 7 || inode == 0 || access[2] != 'x') {
      continue;
    }
    segment.path = line.substr(static_cast<std::size_t>(path_at));
    if (is_what_was_loaded(segment.path, major_device, minor_device, inode)) {
      found.push_back(std::move(segment));
    }
  }
  return found;
}

// Writes an instruction. Code is not writable, but a process may write its own memory through this file. The function
// only makes calls that are allowed in a signal handler.
void write_code(std::uintptr_t address, const Instruction& instruction) {
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) {
    return;
  }
  if (pwrite(memory, instruction.data(), instruction.size(), static_cast<off_t>(address)) > 0) {
    __builtin___clear_cache(reinterpret_cast<char*>(address), reinterpret_cast<char*>(address + instruction.size()));
  }
  close(memory);
}

std::vector<Segment>& guarded() {
  static auto* const segments = new std::vector<Segment>; // never destroyed: a thread may trap while the process ends
  return *segments;
}

struct sigaction previous_action{};
bool is_on = false;

// If a debugger put the breakpoint at `address`, restores the code there and returns true. A breakpoint of the program
// itself is in the file too, and stays.
bool mend(std::uintptr_t address) {
  for (const Segment& segment : guarded()) {
    if (address < segment.begin || address >= segment.end) {
      continue;
    }
    const int file = open(segment.path.c_str(), O_RDONLY | O_CLOEXEC);
    Instruction original{};
    const auto at = static_cast<off_t>(segment.offset + (address - segment.begin));
    const bool known = file >= 0 && pread(file, original.data(), original.size(), at) > 0;
    if (file >= 0) {
      close(file);
    }
    if (!known || original == kBreakpoint) {
      return false;
    }
    write_code(address, original);
    return true;
  }
  return false;
}

void on_trap(int /*signal*/, siginfo_t* info, void* context_pointer) {
  auto& context = *static_cast<ucontext_t*>(context_pointer);
  const auto address = program_counter(context) - kStopsBehind;
  if (info->si_code == TRAP_TRACE) {
    return; // a single step that the debugger began before it ended
  }
  if (info->si_code <= 0) { // a process sent the signal: the former action runs when this handler returns
    sigaction(SIGTRAP, &previous_action, nullptr);
    raise(SIGTRAP);
    return;
  }
  if (mend(address)) {
    go_on_at(context, address);
    return;
  }
  // The breakpoint is the program's own: the thread runs into it again, under the former action.
  sigaction(SIGTRAP, &previous_action, nullptr);
  go_on_at(context, address);
}

constexpr std::uintptr_t kPage = 4096;

bool holds_breakpoint(const unsigned char* code) {
  return std::memcmp(code, kBreakpoint.data(), kBreakpoint.size()) == 0;
}

std::size_t mend_segment(const Segment& segment) {
  const auto size = segment.end - segment.begin;
  const int file = open(segment.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, static_cast<off_t>(segment.offset));
  struct stat status{};
  const bool readable = mapped != MAP_FAILED && fstat(file, &status) == 0;
  close(file);
  if (!readable) {
    return 0;
  }
  const auto* const original = static_cast<const unsigned char*>(mapped);
  const auto* const code = reinterpret_cast<const unsigned char*>(segment.begin);
  // The last page may extend past the end of the file, where nothing can be read.
  const auto in_file = static_cast<std::uintptr_t>(status.st_size) - segment.offset;
  const auto length = size < in_file ? size : in_file;
  std::size_t mended = 0;
  for (std::uintptr_t page = 0; page < length; page += kPage) {
    const auto end = page + kPage < length ? page + kPage : length;
    if (std::memcmp(code + page, original + page, end - page) == 0) {
      continue;
    }
    for (auto i = page; i + kBreakpoint.size() <= end; i += kBreakpoint.size()) {
      if (holds_breakpoint(code + i) && !holds_breakpoint(original + i)) {
        Instruction instruction{};
        std::memcpy(instruction.data(), original + i, instruction.size());
        write_code(segment.begin + i, instruction);
        ++mended;
      }
    }
  }
  munmap(mapped, size);
  return mended;
}

} // namespace

void guard_breakpoints(bool on) {
  if (on == is_on) {
    return;
  }
  is_on = on;
  if (!on) {
    sigaction(SIGTRAP, &previous_action, nullptr);
    return;
  }
  guarded() = loaded_code();
  struct sigaction action{};
  action.sa_sigaction = &on_trap;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTRAP, &action, &previous_action);
}

std::size_t mend_breakpoints() {
  std::size_t mended = 0;
  for (const Segment& segment : loaded_code()) {
    mended += mend_segment(segment);
  }
  return mended;
}

} // namespace reftorch::torch::debug
