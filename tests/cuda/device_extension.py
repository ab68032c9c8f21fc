"""CUDA sources in an extension, on two simulated devices or on a GPU: run by test_devices.py.

Mirrors: test/test_cpp_extensions_jit.py, ``test_inline_jit_compile_extension_cuda`` and ``test_jit_cuda_extension``

The text is as people write it for PyTorch.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import reftorch as torch
from reftorch.utils.cpp_extension import load, load_inline

SIMULATED = getattr(torch._C, "_cuda_is_simulated", False)

KERNEL = r"""
#include <cuda.h>
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

extern __shared__ float before[];

template <typename T>
__global__ void running_sum_kernel(const T* __restrict__ x, T* __restrict__ out, int n) {
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  before[t] = i < n ? x[i] : T(0);
  __syncthreads();
  T sum = 0;
  #pragma unroll
  for (int k = 0; k <= t; k++) sum += before[k];
  if (i < n) out[i] = sum;
}
"""
LAUNCH = r"""
torch::Tensor running_sum(const torch::Tensor& x, int64_t block) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  const c10::cuda::CUDAGuard guard(x.device());
  torch::Tensor out = torch::empty_like(x);
  const int n = x.numel();
  const auto stream = at::cuda::getCurrentCUDAStream();
  running_sum_kernel<float><<<(n + block - 1) / block, block, block * sizeof(float), stream>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""
DECLARED = "torch::Tensor running_sum(const torch::Tensor& x, int64_t block);"
BOUND = """
#include <csrc/utils/python_function.h>
#include "kernel.cuh"
{launch}
TORCH_EXTENSION_MODULE(::reftorch::torch::python_function<&running_sum>::def("running_sum"))
"""


def check(running_sum: object) -> None:
    x = torch.randn(100, device=f"cuda:{torch.cuda.device_count() - 1}")
    blocks = [x[i : i + 32].cumsum(0) for i in range(0, 100, 32)]
    torch.testing.assert_close(running_sum(x, 32), torch.cat(blocks))
    with pytest.raises(RuntimeError, match="CUDA error: invalid configuration argument"):
        running_sum(x, 2048)
    with pytest.raises(RuntimeError, match="x must be a CUDA tensor"):
        running_sum(x.cpu(), 32)
    torch.cuda.synchronize()


def test_text() -> None:
    check(load_inline("running_sum", DECLARED, KERNEL + LAUNCH, functions="running_sum").running_sum)


def test_a_file_and_its_header(tmp_path: Path) -> None:
    (tmp_path / "kernel.cuh").write_text("#pragma once\n#include <torch/types.h>\n" + KERNEL)
    (tmp_path / "running_sum.cu").write_text(BOUND.format(launch=LAUNCH))
    check(load("running_sums", [str(tmp_path / "running_sum.cu")]).running_sum)


def test_an_error_names_the_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text("__global__ void k() {\n  undeclared();\n}\n")
    with pytest.raises(RuntimeError, match="Error building extension 'broken'") as told:
        load("broken", [str(tmp_path / "broken.cu")])
    assert "broken.cu:2" in str(told.value).replace("broken.cu(2)", "broken.cu:2"), told.value


def test_sycl_is_refused() -> None:
    with pytest.raises(ValueError, match="SYCL sources cannot be compiled"):
        load_inline("sycl", "", sycl_sources="x")
