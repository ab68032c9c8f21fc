"""Logs for TensorBoard: what a training measures is written into files, which the program ``tensorboard`` draws.

The package ``tensorboard`` writes the files, here as in PyTorch. Without that package, the import raises
``ModuleNotFoundError``. The command ``tensorboard --logdir runs`` shows the files in a browser.

Mirrors: torch/utils/tensorboard/__init__.py
"""

from __future__ import annotations

try:
    from tensorboard.summary.writer.record_writer import RecordWriter
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error}. Hint: torch.utils.tensorboard writes its files with that package: python -m pip install tensorboard",
        name=error.name,
    ) from None

from reftorch.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
