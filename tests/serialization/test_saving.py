"""Saving is atomic: what stops it leaves the old file whole, and nothing else in the folder.

Mirrors: nothing in PyTorch, which writes to the path itself.
"""

import os
import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reftorch


class Unpicklable:
    def __reduce__(self) -> Any:
        raise ValueError("not to be saved")


@pytest.fixture(params=[True, False], ids=["zip", "legacy"])
def zipped(request: pytest.FixtureRequest) -> bool:
    return request.param


def test_an_error_leaves_the_old_file(tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "x.pt"
    reftorch.save(reftorch.ones(2), path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(ValueError, match="not to be saved"):
        reftorch.save([reftorch.zeros(2), Unpicklable()], path, _use_new_zipfile_serialization=zipped)
    assert reftorch.load(path).tolist() == [1, 1]
    assert os.listdir(tmp_path) == ["x.pt"]


FULL_DISK = """
import resource, signal, sys
import reftorch
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is then an error, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    reftorch.save(reftorch.zeros(1_000_000), sys.argv[1], _use_new_zipfile_serialization=sys.argv[2] == "True")
except OSError as error:
    print(type(error).__name__, error.errno)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "x.pt"
    reftorch.save(reftorch.ones(2), path)
    command = [sys.executable, "-c", FULL_DISK, str(path), str(zipped)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "OSError"
    assert reftorch.load(path).tolist() == [1, 1]
    assert os.listdir(tmp_path) == ["x.pt"]


KILLED = """
import os, signal, sys
import reftorch
from reftorch.serialization.archive import PyTorchStreamWriter

write = PyTorchStreamWriter.write_record
def write_and_die(self, name, data):
    write(self, name, data)
    if name == "data/1":
        self._file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
PyTorchStreamWriter.write_record = write_and_die
reftorch.save([reftorch.zeros(100_000) for _ in range(5)], sys.argv[1])
"""


def test_a_kill_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    reftorch.save(reftorch.ones(2), path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert reftorch.load(path).tolist() == [1, 1]
    left = [name for name in os.listdir(tmp_path) if name != "x.pt"]
    assert len(left) == 1 and left[0].startswith(".") and left[0].endswith(".tmp")
    assert (tmp_path / left[0]).stat().st_size > 800_000  # it was killed in the midst of writing


def test_a_mapped_file_can_be_saved_again(tmp_path: Path) -> None:
    """The map keeps the old contents, where writing to the path itself would take the memory away."""
    path = tmp_path / "x.pt"
    reftorch.save(reftorch.arange(100_000), path)
    mapped = reftorch.load(path, mmap=True)
    reftorch.save(reftorch.zeros(1), path)
    assert int(mapped[-1]) == 99_999 and reftorch.load(path).tolist() == [0]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.pt", tmp_path / "latest.pt"
    reftorch.save(1, path)
    usual = tmp_path / "usual"
    usual.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    path.chmod(0o640)
    link.symlink_to("x.pt")
    reftorch.save(2, link)
    assert link.is_symlink() and reftorch.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", f"import reftorch; reftorch.save([1, 2], {str(pipe)!r})"]
    with subprocess.Popen(command) as writer:
        content = pipe.read_bytes()
    assert writer.returncode == 0
    copy = tmp_path / "copy.pt"
    copy.write_bytes(content)
    assert reftorch.load(copy) == [1, 2] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_that_can_only_write() -> None:
    """torch, too, needs no more than write and flush."""

    class Writes:
        def __init__(self) -> None:
            self.content = b""

        def write(self, data: Any) -> int:
            part = bytes(data[:100])  # a file without a buffer may write less than it is given
            self.content += part
            return len(part)

        def flush(self) -> None:
            pass

    import io

    file = Writes()
    reftorch.save(reftorch.arange(100), file)
    assert reftorch.load(io.BytesIO(file.content)).tolist() == list(range(100))


def test_a_pickle_module_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    reftorch.save({"x": reftorch.ones(2)}, path, pickle_module=pickle, pickle_protocol=4)
    with pytest.warns(UserWarning, match="Detected pickle protocol 4"), pytest.raises(pickle.UnpicklingError):
        reftorch.load(path)
    assert reftorch.load(path, weights_only=False)["x"].tolist() == [1, 1]
