"""Files of Hugging Face that several ranks read and write together. They exist by their names only.

Mirrors: torch/distributed/checkpoint/hf_storage.py
Leaves out: everything but the errors.
"""

from __future__ import annotations

from typing import Any

from reftorch import _places

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

_WHY = "checkpoints of several ranks are written by FileSystemWriter here. Hint: safetensors.torch.save_file"


class HuggingFaceStorageReader:
    """The reader of a checkpoint in pieces. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/checkpoint/hf_storage.py, ``HuggingFaceStorageReader``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"HuggingFaceStorageReader: {_WHY}")


class HuggingFaceStorageWriter:
    """The writer of a checkpoint in pieces. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/checkpoint/hf_storage.py, ``HuggingFaceStorageWriter``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"HuggingFaceStorageWriter: {_WHY}")


_places.adopt(__name__, __all__, globals())
