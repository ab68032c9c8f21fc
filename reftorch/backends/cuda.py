"""Switches of matrix products on CUDA; they have no effect, but programs set them.

Mirrors: torch/backends/cuda/__init__.py
Leaves out: the other switches.
"""

from types import SimpleNamespace

from reftorch.cuda._device import _is_compiled

matmul = SimpleNamespace(allow_tf32=False)


def is_built() -> bool:
    """Return whether the library was built for CUDA.

    A build that contains the simulator of CUDA counts as built for CUDA while the simulator is awake: with
    ``REFTORCH_CUDA_SIM=2`` in the environment. While the simulator sleeps, the answer is False, and whatever needs a
    device raises *Torch not compiled with CUDA enabled*. ``torch.version.cuda`` is the version of the CUDA toolkit; the
    simulator is compiled without a toolkit, so there the version is None.

    Example:
        >>> import reftorch as torch
        >>> torch.backends.cuda.is_built()
        False

    Mirrors torch/backends/cuda/__init__.py, ``is_built``.
    """
    return _is_compiled()
