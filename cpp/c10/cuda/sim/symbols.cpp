// Mirrors: nothing in PyTorch: the names of kernels, for the simulator's reports
//
// dladdr knows only the names that a library exports, and kernels are not exported. The symbol table of the library's
// file has all names, unless the file was stripped.
#include <c10/cuda/sim/runtime.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cudasim {

// A file in memory; empty if the file cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const char* name) {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
      void* at = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) {
        data_ = static_cast<const char*>(at);
        size_ = static_cast<size_t>(about.st_size);
      }
    }
    if (file >= 0) {
      close(file);
    }
  }
  ~MappedFile() {
    if (data_ != nullptr) {
      munmap(const_cast<char*>(data_), size_);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Returns `count` elements at a place of the file, or null if the file ends before.
  template <typename T>
  const T* at(size_t place, size_t count = 1) const {
    return place <= size_ && count <= (size_ - place) / sizeof(T) ? reinterpret_cast<const T*>(data_ + place) : nullptr;
  }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Returns the name of the function at a distance from the beginning of the library; empty if there is none.
static std::string name_in_symbol_table(const MappedFile& library, size_t distance) {
  const auto* header = library.at<Elf64_Ehdr>(0);
  const auto* sections = header == nullptr ? nullptr : library.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) {
    return "";
  }
  for (int i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header->e_shnum) {
      continue;
    }
    const size_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = library.at<Elf64_Sym>(table.sh_offset, count);
    const Elf64_Shdr& names = sections[table.sh_link];
    for (size_t s = 0; symbols != nullptr && s < count; s++) {
      const Elf64_Sym& symbol = symbols[s];
      const bool is_here = symbol.st_value <= distance && distance < symbol.st_value + symbol.st_size;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && is_here && symbol.st_name < names.sh_size) {
        const char* name = library.at<char>(names.sh_offset + symbol.st_name, names.sh_size - symbol.st_name);
        return name == nullptr ? "" : name;
      }
    }
  }
  return "";
}

std::string function_name(const void* function) {
  Dl_info info{};
  std::string name;
  if (dladdr(function, &info) != 0) {
    name = info.dli_sname != nullptr
               ? info.dli_sname
               : name_in_symbol_table(MappedFile(info.dli_fname),
                                      static_cast<const char*>(function) - static_cast<const char*>(info.dli_fbase));
  }
  if (name.empty()) {
    char text[32];
    std::snprintf(text, sizeof text, "at %p", function);
    return text;
  }
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr);
  if (readable != nullptr) {
    name = readable;
    std::free(readable);
  }
  return name;
}

} // namespace cudasim
