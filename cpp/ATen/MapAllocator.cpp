// Mirrors: aten/src/ATen/MapAllocator.cpp
#include <ATen/MapAllocator.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

namespace reftorch::at {

namespace {

// The count of a file with a name takes the place of one aligned block, so that the bytes are aligned like others.
constexpr size_t kCountBytes = 64;

std::string reason(int error) {
  return std::string(std::strerror(error)) + " (" + std::to_string(error) + ")";
}

// A descriptor that is closed if nobody takes it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) {
      close(fd);
    }
  }
  int release() {
    return std::exchange(fd, -1);
  }
};

void check_opened(int fd, const std::string& what) {
  const int error = errno;
  TORCH_CHECK(fd >= 0, "unable to open shared memory ", what, ": ", reason(error),
              error == EMFILE
                  ? ". Hint: each shared tensor keeps a file descriptor open: raise the limit (ulimit -n), or call "
                    "torch.multiprocessing.set_sharing_strategy('file_system')"
                  : "");
}

// Returns how much memory the system can give without ending processes. Returns the largest number if the system does
// not say.
size_t available_memory() {
  std::ifstream facts("/proc/meminfo");
  std::string word;
  size_t kilobytes = 0;
  while (facts >> word) {
    if (word == "MemAvailable:" && facts >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return std::numeric_limits<size_t>::max();
}

// Gives the file its size, and takes its pages from the system now. A large request is compared with the memory that is
// left, because a file without a name has no other limit: the system would end processes to satisfy the request.
void reserve(int fd, size_t bytes, const std::string& name) {
  constexpr size_t kLarge = size_t(64) << 20;
  const bool too_large = bytes >= kLarge && bytes > available_memory();
  const int error = too_large ? ENOMEM : posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  TORCH_CHECK(error == 0, "unable to allocate ", bytes, " bytes of shared memory: ", reason(error), ". Hint: ",
              name.empty() || too_large
                  ? "the machine has not so much memory left"
                  : "/dev/shm is full (df -h /dev/shm). Give a container more with docker run --shm-size, or "
                    "call torch.multiprocessing.set_sharing_strategy('file_descriptor'), which needs no room "
                    "there");
}

} // namespace

MapAllocator::MapAllocator(int fd, std::string name, size_t size)
    : fd_(fd), name_(std::move(name)), mapped_(std::max<size_t>(size, 1) + (name_.empty() ? 0 : kCountBytes)) {
  Descriptor mine{fd};
  struct stat facts{};
  TORCH_CHECK(fstat(fd, &facts) == 0, "unable to look at shared memory: ", reason(errno));
  TORCH_CHECK(static_cast<size_t>(facts.st_size) >= mapped_, "unable to map ", mapped_,
              " bytes of shared memory: the file has ", facts.st_size, " bytes");
  file_ = {static_cast<uint64_t>(facts.st_dev), static_cast<uint64_t>(facts.st_ino)};
  base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  TORCH_CHECK(base_ != MAP_FAILED, "unable to map ", mapped_, " bytes of shared memory: ", reason(errno));
  mine.release();
}

MapAllocator::~MapAllocator() {
  decref();
  munmap(base_, mapped_);
  close(fd_);
}

void MapAllocator::incref() {
  if (!name_.empty()) {
    count().fetch_add(1);
  }
}

void MapAllocator::decref() {
  if (!name_.empty() && count().fetch_sub(1) == 1) {
    shm_unlink(name_.c_str());
  }
}

void MapAllocator::unmap(void* self) {
  delete static_cast<MapAllocator*>(self);
}

c10::DataPtr MapAllocator::into_data_ptr(MapAllocator* self) {
  self->incref();
  char* data = static_cast<char*>(self->base_) + (self->name_.empty() ? 0 : kCountBytes);
  return {data, self, &unmap, c10::Device(c10::DeviceType::CPU)};
}

MapAllocator* MapAllocator::of(const c10::DataPtr& memory) {
  return memory.get_deleter() == &unmap ? static_cast<MapAllocator*>(memory.get_context()) : nullptr;
}

c10::DataPtr MapAllocator::new_fd(size_t size) {
  Descriptor made{memfd_create("torch", MFD_CLOEXEC)};
  check_opened(made.fd, "without a name");
  reserve(made.fd, std::max<size_t>(size, 1), "");
  return into_data_ptr(new MapAllocator(made.release(), "", size));
}

c10::DataPtr MapAllocator::new_named(const std::string& name, size_t size) {
  Descriptor made{shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  check_opened(made.fd, name);
  try {
    reserve(made.fd, std::max<size_t>(size, 1) + kCountBytes, name);
    return into_data_ptr(new MapAllocator(made.release(), name, size));
  } catch (...) {
    shm_unlink(name.c_str());
    throw;
  }
}

c10::DataPtr MapAllocator::from_fd(int fd, size_t size) {
  Descriptor mine{fcntl(fd, F_DUPFD_CLOEXEC, 0)};
  check_opened(mine.fd, "by its file descriptor");
  return into_data_ptr(new MapAllocator(mine.release(), "", size));
}

c10::DataPtr MapAllocator::from_name(const std::string& name, size_t size) {
  Descriptor mine{shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600)};
  check_opened(mine.fd, name);
  return into_data_ptr(new MapAllocator(mine.release(), name, size));
}

} // namespace reftorch::at
