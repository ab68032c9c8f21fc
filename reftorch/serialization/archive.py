"""The zip archive of a saved file: records that are not compressed, at places where they can be mapped into memory.

The reader takes compressed records too, because other programs zip a checkpoint again.

Mirrors: caffe2/serialize/inline_container.cc
Leaves out: encryption, methods of compression other than deflate, reading with several threads.

The writer has its own code for the format, because :mod:`zipfile` neither aligns records in archives of more than 2 GB
nor writes the checksum after the bytes, where PyTorch has it. The reader takes the directory from :mod:`zipfile` and
reads the records itself: a file from an unknown source must not make it use more memory than the file is long, or, for
compressed records, than deflate can make of so many bytes.
"""

from __future__ import annotations

import importlib
import os
import struct
import weakref
import zlib
from typing import TYPE_CHECKING, Any

from reftorch._warnings import warn

if TYPE_CHECKING:
    import zipfile

__all__ = ["PyTorchFileReader", "PyTorchStreamReader", "PyTorchStreamWriter"]

_DEFLATED_MOST = 1032  # bytes that one byte of deflate can stand for
_PIECE = 1 << 20  # bytes that are read and checked at once: a checksum of bytes in the processor's cache is quicker
_MAX32 = 0xFFFFFFFF
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")


class PyTorchStreamReader:
    """The records of an archive.

    Args:
        file: a seekable file that is open for reading bytes. The archive ends where the file ends.

    Raises:
        RuntimeError: the file is not an archive, or one of its records is damaged.
    """

    def __init__(self, file: Any) -> None:
        import zipfile  # here, because `import reftorch` would pay for it

        self._file = file
        try:
            records = zipfile.ZipFile(file).infolist()
        except Exception as error:  # a damaged directory causes errors of many types
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from error
        self._records = {record.filename: record for record in records}
        if len(self._records) != len(records):
            raise RuntimeError("PytorchStreamReader failed reading zip archive: two records have the same name")
        if not records:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: archive does not contain any files")
        self._folder = records[0].filename.partition("/")[0] + "/"
        self._size = file.seek(0, 2)
        self._left = self._size

    def has_record(self, name: str) -> bool:
        """Whether the archive has a record of this name."""
        return self._folder + name in self._records

    def _entry(self, name: str) -> zipfile.ZipInfo:
        if not self.has_record(name):
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return self._records[self._folder + name]

    def get_record_size(self, name: str) -> int:
        """Return the number of bytes of a record, as the directory of the archive says. It can be wrong."""
        return self._entry(name).file_size

    def get_record_offset(self, name: str) -> int:
        """Return where the bytes of a record begin in the file. All its bytes are in the file.

        Raises:
            RuntimeError: the record is compressed, is not where the directory says, or ends after the file.
        """
        if self.is_compressed(name):
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: expected a record that is not compressed, as "
                "torch.save writes it. Hint: load without mmap=True, or unzip the file and zip it with `zip -0`."
            )
        return self._offset(name)

    def is_compressed(self, name: str) -> bool:
        """Return whether the bytes of a record have to be inflated, so that they cannot be mapped into memory.

        Raises:
            RuntimeError: the record is encrypted, or compressed in another way than by deflate.
        """
        import zipfile

        record = self._entry(name)
        if record.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or record.flag_bits & 1:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: expected a record that is stored or deflated, got "
                f"method {record.compress_type}{', encrypted' * (record.flag_bits & 1)}. Hint: unzip the file, and zip "
                "it again with `zip -0`."
            )
        return record.compress_type == zipfile.ZIP_DEFLATED

    def check_record(self, name: str) -> None:
        """Raise a RuntimeError if the bytes of a record are not where the directory says, or are too few."""
        self._offset(name)

    def _offset(self, name: str) -> int:
        record = self._entry(name)
        header = b""
        if 0 <= record.header_offset < self._size:
            self._file.seek(record.header_offset)
            header = self._file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: no record where the directory says")
        *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        offset: int = record.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        end = offset + (record.compress_size if self.is_compressed(name) else record.file_size)
        if end > self._size:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: the record ends at byte {end}, the file at byte "
                f"{self._size}. The file is not complete."
            )
        if record.file_size > _DEFLATED_MOST * max(record.compress_size, 1):
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: {record.compress_size} bytes cannot be "
                f"{record.file_size} compressed ones. The file is damaged."
            )
        return offset

    def get_record(self, name: str) -> bytes:
        """Return the bytes of a record."""
        self._offset(name)  # before memory is allocated for a wrong size
        data = bytearray(self.get_record_size(name))
        self.read_into(name, memoryview(data))
        return bytes(data)

    def read_into(self, name: str, memory: memoryview, edited: bool = False) -> None:
        """Copy a record to ``memory``, which has its size.

        Args:
            name: the name of the record.
            memory: where the bytes go.
            edited: whether another program may have edited the bytes, as ``mmap=True`` with ``MAP_SHARED`` allows. A
                wrong checksum is a warning then. PyTorch does not check it.

        Raises:
            RuntimeError: the bytes do not have the record's checksum, or the records are together longer than the file.
        """
        self._file.seek(self._offset(name))
        compressed = self.is_compressed(name)
        self._left -= self._entry(name).compress_size if compressed else len(memory)
        if self._left < 0:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: the records overlap, so that they are longer than "
                "the file"
            )
        checksum = 0
        if compressed:
            self._inflate(name, memory)
            checksum = zlib.crc32(memory)
        for start in range(0, 0 if compressed else len(memory), _PIECE):
            piece = memory[start : start + _PIECE]
            read_fully(self._file, piece)
            checksum = zlib.crc32(piece, checksum)
        wanted = self._entry(name).CRC
        if wanted in (0, checksum):  # 0: the file has no checksums
            return
        what = f"reading file {name}: the bytes have the checksum {checksum:08x}, expected {wanted:08x}. The file"
        if not edited:
            raise RuntimeError(f"PytorchStreamReader failed {what} is damaged.")
        warn(f"PytorchStreamReader, {what} is damaged, or was edited through mmap=True and MAP_SHARED.")

    def _inflate(self, name: str, memory: memoryview) -> None:
        """Inflate the record at which the file stands to ``memory``, and no further than its end."""
        left, done, inflater = self._entry(name).compress_size, 0, zlib.decompressobj(-zlib.MAX_WBITS)
        data = b""
        try:
            while done < len(memory):
                if not data and left:
                    data = self._file.read(min(left, _PIECE))
                    left -= len(data)
                piece = inflater.decompress(data, min(_PIECE, len(memory) - done))
                data = inflater.unconsumed_tail
                memory[done : done + len(piece)] = piece
                done += len(piece)
                if not piece and (inflater.eof or not (data or left)):
                    break
        except zlib.error as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: {error}. The file is damaged."
            ) from error
        if done < len(memory):
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: its compressed bytes are {done}, expected "
                f"{len(memory)}. The file is damaged."
            )


class PyTorchFileReader(PyTorchStreamReader):
    """The records of a file that ``torch.save`` wrote, for programs that load its tensors one by one.

    Args:
        file: the path of the file, or a seekable file that is open for reading bytes.

    Raises:
        RuntimeError: see :class:`PyTorchStreamReader`.

    Example::

        >>> torch.save(torch.ones(2), "ones.pt")
        >>> torch.PyTorchFileReader("ones.pt").has_record("data.pkl")
        True

    Mirrors torch/csrc/jit/python/init.cpp, ``PyTorchFileReader``.
    """

    def __init__(self, file: Any) -> None:
        if isinstance(file, str | os.PathLike):
            file = open(file, "rb")  # noqa: SIM115  closed with the reader
            weakref.finalize(self, file.close)
        super().__init__(file)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Any:
        """Return a tensor of ``numel`` elements that has the bytes of a record.

        Args:
            name: the name of the record, such as ``"data/0"``.
            numel: the number of elements.
            dtype: their dtype, or ``torch.UntypedStorage`` for bytes.

        Raises:
            RuntimeError: there is no such record, or it is damaged.
            ValueError: the record is shorter than the elements.
        """
        reftorch: Any = importlib.import_module("reftorch")  # here, because it imports this module
        memory = bytearray(self.get_record(name))
        return reftorch.frombuffer(
            memory, dtype=dtype if isinstance(dtype, reftorch.dtype) else reftorch.uint8, count=numel
        )


def read_fully(file: Any, memory: memoryview) -> None:
    """Fill ``memory`` from a file.

    Raises:
        RuntimeError: the file ends before.
    """
    done = 0
    while done < len(memory):
        if hasattr(file, "readinto"):
            count = file.readinto(memory[done:])
        else:
            data = file.read(len(memory) - done)
            count = len(data)
            memory[done : done + count] = data
        if not count:
            raise RuntimeError("unexpected end of the file. The file is not complete.")
        done += count


class PyTorchStreamWriter:
    """Writes an archive to a file, from the first byte to the last.

    Args:
        file: an object with ``write``.
        folder: the name of the folder that contains the records.
        compute_crc32: whether records get a checksum.
        alignment: the bytes of each record begin at a multiple of this number.
    """

    def __init__(self, file: Any, folder: str, compute_crc32: bool, alignment: int) -> None:
        self._file, self._folder, self._compute_crc32, self._alignment = file, folder, compute_crc32, alignment
        self._position = 0
        self._entries: list[bytes] = []

    def _write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while len(rest) > 0:
            count = self._file.write(rest)
            rest = rest[len(rest) if count is None else count :]  # a file without a buffer can write a part only
        self._position += len(data)

    def write_record(self, name: str, data: bytes | memoryview) -> None:
        """Append a record."""
        checksum = 0
        start = self._begin(name, len(data))
        for piece in range(0, len(data), _PIECE):
            part = memoryview(data)[piece : piece + _PIECE]
            checksum = zlib.crc32(part, checksum) if self._compute_crc32 else 0
            self._write(part)
        self._end(name, start, len(data), checksum)

    def write_record_metadata(self, name: str, size: int) -> None:
        """Append a record of zeros without a checksum, whose bytes another program can write later."""
        start = self._begin(name, size)
        zeros = bytes(min(size, _PIECE))
        for piece in range(0, size, _PIECE):
            self._write(zeros[: size - piece])
        self._end(name, start, size, 0)

    def _begin(self, name: str, size: int) -> int:
        """Write the header of a record, whose padding makes the next byte a multiple of the alignment."""
        start = self._position
        path = f"{self._folder}/{name}".encode()
        large = _zip64(size, size, start)
        padding = -(start + _LOCAL_HEADER.size + len(path) + len(large) + 4) % self._alignment
        # The sizes and the checksum are zero here. They follow the bytes, in the data descriptor.
        flags = 0x0808 if size else 0x0800
        extra = len(large) + 4 + padding
        self._write(_LOCAL_HEADER.pack(b"PK\x03\x04", 0, flags, 0, 0, 0, 0, 0, 0, len(path), extra))
        self._write(path + large + b"FB" + struct.pack("<H", padding) + b"Z" * padding)
        return start

    def _end(self, name: str, start: int, size: int, checksum: int) -> None:
        large = _zip64(size, size, start)
        if size:
            self._write(b"PK\x07\x08" + struct.pack("<IQQ" if large else "<III", checksum, size, size))
        path = f"{self._folder}/{name}".encode()
        short, place = min(size, _MAX32), min(start, _MAX32)
        flags = 0x0808 if size else 0x0800
        entry = (b"PK\x01\x02", 0, 0, flags, 0, 0, 0, checksum, short, short, len(path), len(large), 0, 0, 0, 0, place)
        self._entries.append(_ENTRY.pack(*entry) + path + large)

    def write_end_of_file(self) -> None:
        """Write the directory of the archive. It has 64 bits for each number, as PyTorch's."""
        start, count = self._position, len(self._entries)
        for entry in self._entries:
            self._write(entry)
        size, end = self._position - start, self._position
        self._write(struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 0x31E, 0x2D, 0, 0, count, count, size, start))
        self._write(struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1))
        few = min(count, 0xFFFF)
        self._write(struct.pack("<4s4HIIH", b"PK\x05\x06", 0, 0, few, few, min(size, _MAX32), min(start, _MAX32), 0))


def _zip64(size: int, compressed: int, start: int) -> bytes:
    """Return the extra field with the numbers that do not fit into 32 bits; empty if all fit."""
    numbers = [n for n in (size, compressed, start) if n >= _MAX32]
    return struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
