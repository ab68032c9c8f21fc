"""How much memory training steps of a library need at their peak, in bytes: its own process, which prints a number.

Mirrors: nothing in PyTorch: it counts the memory of GPUs, and only what its own allocator gave out.

    .venv/bin/python tests/bench/peak_memory.py reftorch

What counts is the memory of the process, as the kernel of the operating system sees it: caches of an allocator and
work space of a BLAS count too. What the process had before, with the library imported and a step of two images done,
is subtracted, because the sizes of the libraries themselves are no matter of a training step.
"""

import sys
from pathlib import Path

from cases import Library
from cases_train import step_of
from networks import cnn

BATCH = 1024  # about 60 MB of activations, far more than the code that a step loads
STEPS = 5


def memory(kind: str) -> int:
    """``VmRSS`` is the memory now, ``VmHWM`` the most there was since the last reset, both in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no line {kind}")


def main() -> None:
    lib = Library(sys.argv[1], threads=1)
    model = cnn(lib)
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    images, target = lib.randn(BATCH, 1, 28, 28), lib.T.randint(0, 10, (BATCH,))
    step_of(optimizer, lambda: lib.F.cross_entropy(model(images[:2]), target[:2]))()
    step = step_of(optimizer, lambda: lib.F.cross_entropy(model(images), target))
    Path("/proc/self/clear_refs").write_text("5")  # the most there was is counted anew
    before = memory("VmRSS")
    for _ in range(STEPS):
        step()
    print(memory("VmHWM") - before)


if __name__ == "__main__":
    main()
