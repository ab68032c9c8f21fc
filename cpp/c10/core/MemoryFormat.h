// Mirrors: c10/core/MemoryFormat.h, c10/core/Layout.h
//
// The order of a dense tensor's dimensions in memory. Left out: channels_last_3d, and every layout except strided.
#pragma once

#include <cstdint>
#include <ostream>

namespace reftorch::c10 {

enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1, ChannelsLast = 2 };
enum class Layout : int8_t { Strided = 0 };

inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  static const char* const names[] = {"contiguous_format", "preserve_format", "channels_last"};
  return out << names[static_cast<int>(format)];
}

} // namespace reftorch::c10
