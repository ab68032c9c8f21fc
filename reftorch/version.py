"""The version of the package, and of the GPU toolkits that compiled the extension.

Mirrors: torch/version.py
Leaves out: the hash of the commit.
"""

from reftorch import _C


def _compiled_cuda() -> str | None:
    number = _C._cuda_getCompiledVersion() if hasattr(_C, "_cuda_getCompiledVersion") else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


__version__ = "0.2.0"
debug = False
cuda = _compiled_cuda()  # None without CUDA, and with the simulator, which is compiled without a toolkit
hip = None
