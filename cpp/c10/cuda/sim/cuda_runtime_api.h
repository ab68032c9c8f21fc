// Mirrors: nothing in PyTorch: stands in for CUDA's <cuda_runtime_api.h>
#pragma once

#include <cuda_runtime.h>
