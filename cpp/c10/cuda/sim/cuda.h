// Mirrors: nothing in PyTorch: stands in for CUDA's <cuda.h>, the header of the driver's functions, which are left out
#pragma once

#include <cuda_runtime.h>
