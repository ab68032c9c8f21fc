"""The zip archive: its layout is torch's, and a damaged or hostile one is refused with bounded memory.

Mirrors: caffe2/serialize/inline_container_test.cc
"""

import io
import mmap
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.serialization import archive


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    reftorch.save(obj, file)
    return file.getvalue()


def layout(data: bytes) -> list[Any]:
    """Where each record lies in an archive and how it is described, without torch's own id of the file."""
    with zipfile.ZipFile(io.BytesIO(data)) as records:
        return [
            (r.filename, r.header_offset, r.flag_bits, r.file_size, r.CRC)
            for r in records.infolist()
            if "serialization_id" not in r.filename and "data.pkl" not in r.filename
        ]


def repacked(data: bytes, change: Any, method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    """The archive with records changed by a function of their name and bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(file, "w", method) as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize("checksums", [True, False])
def test_records_lie_where_torch_puts_them(real_torch: ModuleType, checksums: bool) -> None:
    """Also their headers, paddings and checksums are equal, from the pickle on; the pickle differs in its length."""
    files = []
    for library in (reftorch, real_torch):
        library.serialization.set_crc32_options(checksums)
        try:
            writer_file = io.BytesIO()
            if library is reftorch:
                writer = archive.PyTorchStreamWriter(writer_file, "archive", checksums, 64)
                writer.write_record("data.pkl", b"x" * 277)
            else:
                writer = library._C.PyTorchFileWriter(writer_file, checksums, 64)
                writer.write_record("data.pkl", b"x" * 277, 277)
            for name, data in (("data/0", b"y" * 20), ("data/1", b""), ("data/2", b"z" * 1000)):
                writer.write_record(name, data, *([len(data)] if library is real_torch else []))
            writer.write_end_of_file()
        finally:
            library.serialization.set_crc32_options(True)
        files.append(writer_file.getvalue())
    end = layout(files[0])[-1][1] + 1000  # torch appends records of its own
    assert files[0][:end] == files[1][:end]
    assert layout(files[0]) == layout(files[1])[:3]


def test_python_and_torch_agree_about_the_checksums(real_torch: ModuleType) -> None:
    file = saved({"a": reftorch.arange(5), "b": reftorch.zeros(0)})
    with zipfile.ZipFile(io.BytesIO(file)) as records:
        assert records.testzip() is None
    assert real_torch.load(io.BytesIO(file))["a"].tolist() == [0, 1, 2, 3, 4]


def test_numbers_of_more_than_32_bits(tmp_path: Path) -> None:
    """The bytes of a large record are skipped, not written: the file has a hole."""

    class Skips(io.FileIO):
        def write(self, data: Any) -> int:
            if len(data) == archive._PIECE:
                self.seek(len(data), 1)
                return len(data)
            return super().write(data) or 0

    size = 5 << 30
    with Skips(tmp_path / "large", "w") as file:
        writer = archive.PyTorchStreamWriter(file, "large", False, 64)
        writer.write_record_metadata("data/0", size)
        writer.write_record("data/1", b"last")
        writer.write_end_of_file()
    with open(tmp_path / "large", "rb") as opened, zipfile.ZipFile(opened) as records:
        assert records.getinfo("large/data/0").file_size == size
        reader = archive.PyTorchStreamReader(opened)
        assert reader.get_record_size("data/0") == size
        assert reader.get_record("data/1") == b"last"
        assert reader.get_record_offset("data/1") % 64 == 0 and reader.get_record_offset("data/1") > size


def test_an_archive_within_a_file() -> None:
    """As in torch, an archive may begin at the position of the file, and other bytes may follow it."""
    file = io.BytesIO(b"front" + saved([reftorch.ones(2)]) + b"tail")
    file.seek(5)
    assert reftorch.load(file)[0].tolist() == [1, 1]
    file = io.BytesIO()
    file.write(b"front")
    reftorch.save(reftorch.ones(2), file)
    file.seek(5)
    assert reftorch.load(file).tolist() == [1, 1]


def test_a_changed_bit_of_a_tensor_is_noticed() -> None:
    whole = saved({"x": reftorch.arange(100.0)})
    first = archive.PyTorchStreamReader(io.BytesIO(whole)).get_record_offset("data/0")
    for where in range(first, first + 400, 37):
        changed = bytearray(whole)
        changed[where] ^= 16
        with pytest.warns(UserWarning, match=r"data/0: the bytes have the checksum .* The file is damaged, or was ed"):
            reftorch.load(io.BytesIO(changed))  # as PyTorch does, which checks nothing


def test_a_file_that_was_edited_in_place_loads(tmp_path: Path) -> None:
    path = tmp_path / "edited.pt"
    reftorch.save(reftorch.arange(4.0), path)
    with reftorch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        reftorch.load(path, mmap=True)[0] = 5
    with pytest.warns(UserWarning, match="was edited through mmap=True and MAP_SHARED"):
        assert reftorch.load(path).tolist() == [5.0, 1.0, 2.0, 3.0]
    assert reftorch.load(path, mmap=True).tolist() == [5.0, 1.0, 2.0, 3.0]


def test_a_changed_bit_of_the_pickle_is_an_error() -> None:
    whole = saved({"x": reftorch.arange(100.0)})
    changed = bytearray(whole)
    changed[archive.PyTorchStreamReader(io.BytesIO(whole)).get_record_offset("data.pkl") + 30] ^= 16
    with pytest.raises(RuntimeError, match=r"data\.pkl: the bytes have the checksum .*The file is damaged\."):
        reftorch.load(io.BytesIO(changed))


def test_a_file_without_checksums_loads(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        file = io.BytesIO()
        library.serialization.set_crc32_options(False)
        try:
            library.save(library.ones(3), file)
        finally:
            library.serialization.set_crc32_options(True)
        assert {row[-1] for row in layout(file.getvalue())} == {0}
        assert reftorch.load(io.BytesIO(file.getvalue())).tolist() == [1, 1, 1]


def test_every_truncation_is_an_error() -> None:
    whole = saved({"x": reftorch.arange(10.0)})
    for length in range(0, len(whole), 13):
        with pytest.raises((RuntimeError, EOFError)):
            reftorch.load(io.BytesIO(whole[:length]))


def test_compressed_records_load(real_torch: ModuleType) -> None:
    """Another program has zipped the file again."""
    for library in (reftorch, real_torch):
        file = io.BytesIO()
        library.save({"x": library.arange(100_000), "y": library.zeros(0)}, file)
        found = reftorch.load(repacked(file.getvalue(), lambda name, data: data, zipfile.ZIP_DEFLATED))
        assert found["x"].equal(reftorch.arange(100_000)) and found["y"].numel() == 0


def test_compressed_records_cannot_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "deflated.pt"
    path.write_bytes(repacked(saved(reftorch.ones(3)), lambda name, data: data, zipfile.ZIP_DEFLATED).getvalue())
    with pytest.raises(RuntimeError, match=r"expected a record that is not compressed.* Hint: load without mmap=True"):
        reftorch.load(path, mmap=True)
    with pytest.raises(RuntimeError, match="expected a record that is stored or deflated, got method 12"):
        reftorch.load(repacked(saved(reftorch.ones(3)), lambda name, data: data, zipfile.ZIP_BZIP2))


def test_damaged_compressed_records_are_errors() -> None:
    """A record takes no more memory than deflate can make of its bytes, and no more than the directory says."""
    whole = repacked(saved(reftorch.zeros(1 << 16)), lambda name, data: data, zipfile.ZIP_DEFLATED).getvalue()
    entry = zipfile.ZipFile(io.BytesIO(whole)).getinfo("archive/data/0")
    start = entry.header_offset + 30 + len(entry.filename)
    for change, message in (
        (whole[:start] + b"\xff" * entry.compress_size + whole[start + entry.compress_size :], "The file is damaged"),
        (whole[:start] + bytes(entry.compress_size) + whole[start + entry.compress_size :], "The file is damaged"),
    ):
        with pytest.raises(RuntimeError, match=message):
            reftorch.load(io.BytesIO(change))
    reader = archive.PyTorchStreamReader(io.BytesIO(whole))
    reader._records["archive/data/0"].file_size = 2**40
    with pytest.raises(RuntimeError, match="bytes cannot be 1099511627776 compressed ones"):
        reader.get_record("data/0")


def test_records_that_overlap_are_refused() -> None:
    """A directory that names the same bytes a hundred times: a bomb without compression."""
    with zipfile.ZipFile(io.BytesIO(saved([reftorch.zeros(1000) for _ in range(100)]))) as records:
        data = records.read("archive/data.pkl")
    file = io.BytesIO()
    writer = archive.PyTorchStreamWriter(file, "archive", False, 64)
    writer.write_record("data.pkl", data)
    start = writer._begin("data/0", 4000)
    writer._write(bytes(4000))
    for key in range(100):
        writer._end(f"data/{key}", start, 4000, 0)
    writer.write_end_of_file()
    with pytest.raises(RuntimeError, match="overlap"):
        reftorch.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(
    "name", ["../escaped", "/etc/escaped", "archive/../../escaped", "archive/data/../../../escaped"]
)
def test_names_are_never_paths(name: str) -> None:
    """No record is extracted, so a name that leaves the folder is a name like others."""
    file = io.BytesIO(saved(reftorch.ones(2)))
    with zipfile.ZipFile(file, "a") as target:
        target.writestr(name, "x")
    file.seek(0)
    assert reftorch.load(file).tolist() == [1, 1]


def test_two_records_of_one_name_are_refused() -> None:
    file = io.BytesIO(saved(reftorch.ones(2)))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as target:
        target.writestr("archive/data/0", b"\0" * 8)
    file.seek(0)
    with pytest.raises(RuntimeError, match="two records have the same name"):
        reftorch.load(file)


def test_a_record_in_another_place_than_the_directory_says() -> None:
    whole = bytearray(saved(reftorch.ones(2)))
    with zipfile.ZipFile(io.BytesIO(whole)) as records:
        place = records.getinfo("archive/data/0").header_offset
    whole[place : place + 4] = b"none"
    with pytest.raises(RuntimeError, match="data/0: no record where the directory says"):
        reftorch.load(io.BytesIO(whole))


def test_memory_is_used_only_for_bytes_that_the_file_has() -> None:
    """A directory that promises 2**60 bytes: refused before they are allocated."""
    whole = saved(reftorch.ones(2))
    with zipfile.ZipFile(io.BytesIO(whole)) as records:
        record = records.getinfo("archive/data/0")
        record.file_size = record.compress_size = 2**60
        reader = archive.PyTorchStreamReader(io.BytesIO(whole))
        reader._records["archive/data/0"] = record
        with pytest.raises(RuntimeError, match="The file is not complete"):
            reader.get_record("data/0")


def test_a_program_reads_one_tensor_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "two.pt"
    reftorch.save([reftorch.arange(3.0), reftorch.arange(6)], file)
    for source in (str(file), file, io.BytesIO(file.read_bytes())):
        reader = reftorch.PyTorchFileReader(source)
        assert reader.get_storage_from_record("data/0", 3, reftorch.float32).tolist() == [0.0, 1.0, 2.0]
    read = reader.get_storage_from_record("data/1", 48, reftorch.UntypedStorage)
    assert read.view(reftorch.int64).tolist() == list(range(6)) and read.untyped_storage().nbytes() == 48
    with pytest.raises(ValueError, match="48 bytes"):
        reader.get_storage_from_record("data/1", 7, reftorch.int64)
