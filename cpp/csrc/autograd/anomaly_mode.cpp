// Mirrors: torch/csrc/autograd/anomaly_mode.cpp
#include <csrc/autograd/anomaly_mode.h>

namespace reftorch::torch::autograd {

std::atomic<bool> AnomalyMode::enabled_{false};
std::atomic<bool> AnomalyMode::check_nan_{true};
std::unique_ptr<AnomalyMetadata> (*make_anomaly_metadata)() = nullptr;

} // namespace reftorch::torch::autograd
