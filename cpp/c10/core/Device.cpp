// Mirrors: c10/core/Device.cpp
#include <c10/core/Device.h>

#include <c10/util/Exception.h>

namespace reftorch::c10 {

const char* DeviceTypeName(DeviceType t) {
  constexpr const char* kNames[kNumDeviceTypes] = {"cpu", "cuda", "meta"};
  return kNames[static_cast<int>(t)];
}

Device::Device(const std::string& text) {
  TORCH_CHECK(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "cpu") {
    type_ = DeviceType::CPU;
  } else if (name == "cuda") {
    type_ = DeviceType::CUDA;
  } else if (name == "meta") {
    type_ = DeviceType::Meta;
  } else {
    constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    TORCH_CHECK(!name.empty() && name.find_first_not_of(kLetters) == std::string::npos, "Invalid device string: '",
                text, "'");
    TORCH_CHECK(false, "Expected one of cpu, cuda, meta device type at start of device string: ", name);
  }
  if (colon == std::string::npos) {
    return;
  }
  const std::string digits = text.substr(colon + 1);
  const bool number =
      !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos;
  TORCH_CHECK(number && (digits.size() == 1 || digits[0] != '0'), "Invalid device string: '", text, "'");
  const int index = std::stoi(digits);
  TORCH_CHECK(index < 128, "Invalid device string: '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

std::string Device::str() const {
  std::string text = DeviceTypeName(type_);
  if (has_index()) {
    text += ":" + std::to_string(index_);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << device.str();
}

} // namespace reftorch::c10
