"""The memory that tensors share, as Python sees it.

Mirrors: torch/storage.py
Leaves out: typed storages, sharing between processes, saving.
"""

from reftorch import _C


class UntypedStorage:
    """The memory behind tensors: bytes with an address.

    Mirrors torch/storage.py, ``UntypedStorage``; without reading, writing and resizing.
    """

    def __init__(self, tensor: _C.TensorBase) -> None:
        self._tensor = tensor

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._tensor._storage_data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._tensor._storage_nbytes()

    def __len__(self) -> int:
        return self.nbytes()
