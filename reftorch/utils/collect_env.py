"""What a report about an error should say of the machine: versions, devices, packages.

Mirrors: torch/utils/collect_env.py
Leaves out: systems other than Linux, and the drivers of GPUs of other makers than NVIDIA.

``python -m reftorch.utils.collect_env`` prints it. ``python -m reftorch.debug`` tests whether the debuggers work.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from typing import NamedTuple

import reftorch

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]

# Parts of the names of packages that matter: what computes, what compiles, and the libraries of CUDA.
PACKAGES = ("torch", "numpy", "triton", "optree", "mypy", "flake8", "onnx", "openblas", "pybind11", "cuda-", "cublas",
            "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl", "nvjitlink", "nvtx")  # fmt: skip
ALLOCATOR_SETTINGS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
CUDA_FACTS = ("cuda_runtime_version", "nvidia_gpu_models", "nvidia_driver_version")  # those that programs tell


class SystemEnv(NamedTuple):
    """The facts. None stands for a fact that could not be found.

    Mirrors torch/utils/collect_env.py, ``SystemEnv``.
    """

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str | None
    gcc_version: str | None
    clang_version: str | None
    cmake_version: str | None
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cuda_runtime_version: str | None
    cuda_module_loading: str
    nvidia_driver_version: str | None
    nvidia_gpu_models: str | None
    cudnn_version: str | None
    is_xpu_available: str
    pip_version: str
    pip_packages: str | None
    conda_packages: str | None
    hip_compiled_version: str
    hip_runtime_version: str
    miopen_runtime_version: str
    caching_allocator_config: dict[str, str]
    is_xnnpack_available: str
    cpu_info: str


# The lines of the text: a label and the fact after it. A label without a fact begins a part.
LINES = (
    ("PyTorch version", "torch_version"),
    ("Is debug build", "is_debug_build"),
    ("CUDA used to build PyTorch", "cuda_compiled_version"),
    ("ROCM used to build PyTorch", "hip_compiled_version"),
    ("", ""),
    ("OS", "os"),
    ("GCC version", "gcc_version"),
    ("Clang version", "clang_version"),
    ("CMake version", "cmake_version"),
    ("Libc version", "libc_version"),
    ("", ""),
    ("Python version", "python_version"),
    ("Python platform", "python_platform"),
    ("Is CUDA available", "is_cuda_available"),
    ("CUDA runtime version", "cuda_runtime_version"),
    ("CUDA_MODULE_LOADING set to", "cuda_module_loading"),
    ("GPU models and configuration", "nvidia_gpu_models"),
    ("Nvidia driver version", "nvidia_driver_version"),
    ("cuDNN version", "cudnn_version"),
    ("Is XPU available", "is_xpu_available"),
    ("HIP runtime version", "hip_runtime_version"),
    ("MIOpen runtime version", "miopen_runtime_version"),
    ("Is XNNPACK available", "is_xnnpack_available"),
    ("Caching allocator config", "caching_allocator_config"),
)


def _said(*command: str, find: str = "(?s)(.*)") -> str | None:
    """Return what a program prints, or the part of it that a pattern finds; None if the program cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(find, done.stdout.strip()) if done.returncode == 0 else None
    return found and found[1]


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = "linux"
    return f"{name} ({platform.machine()})"


def _packages() -> str:
    found = {(each.metadata["Name"] or "", each.version) for each in importlib.metadata.distributions()}
    return "\n".join(f"{name}=={version}" for name, version in sorted(found) if any(part in name for part in PACKAGES))


def get_env_info() -> SystemEnv:
    """Collect the facts.

    Returns:
        A named tuple of the 26 facts.

    Example:
        >>> from reftorch.utils import collect_env
        >>> collect_env.get_env_info().torch_version == torch.__version__
        True

    Mirrors torch/utils/collect_env.py, ``get_env_info``.
    """
    cuda = reftorch.cuda.is_available()
    gpus = _said("nvidia-smi", "-L")
    return SystemEnv(
        torch_version=reftorch.__version__,
        is_debug_build=str("build type: Debug" in reftorch.__config__.show()),
        cuda_compiled_version=reftorch.version.cuda,
        gcc_version=_said("gcc", "--version", find=r"gcc (.*)"),
        clang_version=_said("clang", "--version", find=r"clang version (.*)"),
        cmake_version=_said("cmake", "--version", find=r"cmake (.*)"),
        os=_system(),
        libc_version="-".join(platform.libc_ver()),
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)".replace("\n", " "),
        python_platform=platform.platform(),
        is_cuda_available=str(cuda),
        cuda_runtime_version=_said("nvcc", "--version", find=r"release .+ V(.*)"),
        cuda_module_loading=os.environ.get("CUDA_MODULE_LOADING", "") if cuda else "N/A",
        nvidia_driver_version=_said("nvidia-smi", find=r"Driver Version: (.*?) "),
        nvidia_gpu_models=gpus and re.sub(r" \(UUID: .+?\)", "", gpus),
        cudnn_version=None,  # not used
        is_xpu_available=str(reftorch.xpu.is_available()),
        pip_version="pip3",
        pip_packages=_packages(),
        conda_packages=_said("conda", "list"),
        hip_compiled_version="N/A",
        hip_runtime_version="N/A",
        miopen_runtime_version="N/A",
        caching_allocator_config={name: os.environ[name] for name in ALLOCATOR_SETTINGS if os.environ.get(name)},
        is_xnnpack_available="False",
        cpu_info=_said("lscpu") or "None",
    )


def _shown(value: object) -> str:
    if value is None:
        return "Could not collect"
    return ("Yes" if value else "No") if isinstance(value, bool) else str(value)


def pretty_str(envinfo: SystemEnv) -> str:
    """Write the facts as the text that a report contains.

    Mirrors torch/utils/collect_env.py, ``pretty_str``.
    """
    facts = {**envinfo._asdict(), "caching_allocator_config": envinfo.caching_allocator_config or "N/A"}
    if not reftorch.cuda.is_available() and all(facts[name] is None for name in CUDA_FACTS):
        facts.update(dict.fromkeys((*CUDA_FACTS, "cudnn_version"), "No CUDA"))
        if facts["cuda_compiled_version"] is None:
            facts["cuda_compiled_version"] = "None"
    if "\n" in (envinfo.nvidia_gpu_models or ""):
        facts["nvidia_gpu_models"] = f"\n{envinfo.nvidia_gpu_models}\n"
    lines = [f"{label}: {_shown(facts[name])}" if label else "" for label, name in LINES]
    lines += ["", "CPU:", str(envinfo.cpu_info), "", "Versions of relevant libraries:"]
    for tag, name in ((envinfo.pip_version, "pip_packages"), ("conda", "conda_packages")):
        packages = "No relevant packages" if facts[name] == "" else _shown(facts[name])
        lines += [f"[{tag}] {line}" for line in packages.split("\n")]
    return "\n".join(lines)


def get_pretty_env_info() -> str:
    """Collect the facts; return them as the text that a report contains.

    Mirrors torch/utils/collect_env.py, ``get_pretty_env_info``.
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Print the text, which may take some seconds.

    Mirrors torch/utils/collect_env.py, ``main``.
    """
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
