"""A program that loads files that were changed at random: no file may crash, hang, use much memory or run code.

Mirrors: nothing in PyTorch, whose ``load`` is not tested in this way.

    python -m tests.serialization.fuzz --seconds 3600

Each file is loaded in a child process with bounded memory and a limit of time. A hook of the interpreter's audit sees
what the child does: it may not open a file for writing, start a program, compile code, or connect to another machine.
After each file, the modules, the classes and the functions that a pickle can name must be what they were. The file that
breaks a rule is kept, and its path is printed; ``--replay PATH`` loads it again.
"""

from __future__ import annotations

import argparse
import io
import pickle
import pickletools  # noqa: F401  (load imports it for the message of its first error)
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import reftorch
from tests.test__weights_only_unpickler import COUNTER, HARMLESS, HOSTILE, ORDERED, REBUILD, STORAGE, glob, state, text

MEMORY = 1 << 30  # bytes of addresses that a child may use more than at its start
SECONDS_OF_A_FILE = 20
# What load raises for a file that it refuses. All other errors are findings.
REFUSALS = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError)
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect", "compile",
             "exec", "os.remove", "os.rename", "os.mkdir", "shutil.rmtree", "ctypes.dlopen", "os.putenv")  # fmt: skip
NUMBERS = (0, 1, 2, 7, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**40, 2**62, 2**63 - 1, 2**64 - 1)


# --- files -----------------------------------------------------------------------------------------------------------


def _whole_files() -> list[bytes]:
    """Files that can be loaded, in both formats."""
    x = reftorch.arange(24.0).view(4, 6)
    objects: list[Any] = [
        x,
        {"views": [x, x[1:], x.t()], "parameter": reftorch.nn.Parameter(reftorch.ones(2)), "empty": reftorch.empty(0)},
        reftorch.nn.Sequential(reftorch.nn.Linear(3, 2), reftorch.nn.BatchNorm1d(2)).state_dict(),
        [getattr(reftorch, name)(3) for name in ("zeros", "ones")]
        + [1, 2.5, "text", None, True, (1, (2, 3)), b"bytes"],
    ]
    files = []
    for obj in objects:
        for zipped in (True, False):
            file = io.BytesIO()
            reftorch.save(obj, file, _use_new_zipfile_serialization=zipped)
            files.append(file.getvalue())
    return files


def _archive(body: bytes) -> bytes:
    """A sound archive with a pickle. Its records have no time of the clock, so that one seed always gives one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), b"\x80\x02" + body + b".")
        archive.writestr(zipfile.ZipInfo("archive/byteorder"), "little")
        archive.writestr(zipfile.ZipInfo("archive/data/0"), struct.pack("<2f", 1.5, 2.5))
        archive.writestr(zipfile.ZipInfo("archive/version"), "3\n")
    return file.getvalue()


def _opcodes(draw: random.Random) -> bytes:
    """A pickle of opcodes that were drawn, and of pieces that are meaningful together."""
    pieces: list[Callable[[], bytes]] = [
        lambda: draw.choice(list(HOSTILE.values())),
        lambda: draw.choice(list(HARMLESS.values())),
        lambda: draw.choice([COUNTER, ORDERED, REBUILD, STORAGE, glob("torch.Tensor")]),
        lambda: glob("torch.nn.parameter.Parameter"),
        lambda: draw.choice([glob("torch.storage.UntypedStorage"), glob("builtins.bytearray"), glob("_codecs.encode")]),
        lambda: draw.choice([glob("torch._tensor._rebuild_from_type_v2"), glob("torch._utils._rebuild_parameter")]),
        lambda: draw.choice([b"(", b"t", b"\x85", b"\x86", b"\x87", b")", b"]", b"}", b"\x8f", b"R", b"\x81", b"b",
                             b"s", b"u", b"a", b"e", b"Q", b"N", b"\x88", b"\x89"]),
        lambda: draw.choice([b"q", b"h"]) + bytes([draw.randrange(4)]),
        lambda: b"\x8a\x08" + struct.pack("<Q", draw.choice(NUMBERS)),
        lambda: b"K" + bytes([draw.randrange(256)]),
        lambda: text(draw.choice(["storage", "cpu", "0", "x", "latin1", "grad", "data", "__class__", "__dict__"])),
    ]  # fmt: skip
    return b"".join(draw.choice(pieces)() for _ in range(draw.randrange(1, 40)))


def _changed(draw: random.Random, data: bytes) -> bytes:
    """The file with some damage."""
    content = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        where = draw.randrange(len(content) + 1)
        length = draw.choice((1, 2, 4, 8, 64, 512))
        kind = draw.randrange(7)
        if kind == 0 and where < len(content):
            content[where] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del content[where:]
        elif kind == 2:
            del content[where : where + length]
        elif kind == 3:
            content[where:where] = content[max(0, where - length) : where]
        elif kind == 4:
            content[where:where] = draw.randbytes(length)
        elif kind == 5:
            content[where : where + 8] = struct.pack("<Q", draw.choice(NUMBERS))
        else:
            content[where : where + 4] = struct.pack("<I", draw.choice(NUMBERS) & 0xFFFFFFFF)
        if not content:
            break
    return bytes(content)


def _repacked(draw: random.Random, data: bytes) -> bytes:
    """An archive whose records were changed and have right checksums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            records = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:
        return _changed(draw, data)
    chosen = draw.choice(list(records))
    records[chosen] = _changed(draw, records[chosen])
    if draw.random() < 0.1:
        records.pop(draw.choice(list(records)))
    file = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if draw.random() < 0.05 else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in records.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def drawn_file(draw: random.Random, whole: list[bytes]) -> bytes:
    """A file to load."""
    kind = draw.randrange(10)
    if kind < 4:
        return _changed(draw, draw.choice(whole))
    if kind < 7:
        return _repacked(draw, draw.choice(whole))
    file = _archive(_opcodes(draw))
    return file if kind < 9 else _changed(draw, file)


# --- loading ---------------------------------------------------------------------------------------------------------


class Findings(Exception):
    """A rule was broken."""


_events: list[str] = []
_watching = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _watching:
        return
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if writes or event.startswith(FORBIDDEN):
        _events.append(f"{event} {args!r:.200}")


def check_file(data: bytes, path: Path) -> str:
    """Load a file, and return what came of it: ``loaded``, or the type of the error.

    Raises:
        Findings: the file broke a rule.
    """
    global _watching
    before, modules = state(), set(sys.modules)
    _events.clear()
    signal.alarm(SECONDS_OF_A_FILE)
    _watching = True
    try:
        result = reftorch.load(path, mmap=True) if data[:4] == b"PK\x03\x04" and len(data) % 4 == 0 else None
        result = reftorch.load(io.BytesIO(data), map_location=(None, "cpu", "meta")[len(data) % 3])
        outcome = "loaded"
        _touch(result, 200)
    except REFUSALS as error:
        if type(error) is ValueError and "Unknown endianness" not in str(error):
            raise Findings(f"is not refused in words: {error!s:.200}") from error
        if "allocate memory" in str(error):
            raise Findings(f"uses much memory: {error!s:.200}") from error
        outcome = type(error).__name__
    except (Exception, MemoryError) as error:
        raise Findings(f"{type(error).__name__}: {error!s:.200}") from error
    finally:
        _watching = False
        signal.alarm(0)
    if _events:
        raise Findings(f"did what a file may not do: {_events}")
    if state() != before:
        raise Findings("changed a class or a function")
    new = {name for name in set(sys.modules) - modules if not name.startswith(("reftorch", "numpy", "encodings"))}
    if new:
        raise Findings(f"imported {sorted(new)}")
    return outcome


def _touch(result: Any, count: int) -> None:
    """Read the elements of the tensors of a result: a tensor that points outside of its storage would crash."""
    work = [result]
    while work and count > 0:
        item = work.pop()
        count -= 1
        if isinstance(item, reftorch.Tensor) and item.device.type == "cpu" and item.numel() < 1000:
            item.tolist()
        elif isinstance(item, dict):
            work.extend(list(item.values())[:50])
        elif isinstance(item, (list, tuple)):
            work.extend(item[:50])


def child(seed: int, until: float, scratch: Path) -> None:
    """Load drawn files until a time, and print how many there were of each outcome."""
    warnings.simplefilter("ignore")
    draw = random.Random(seed)
    whole = _whole_files()
    "".encode("cp437")  # what zipfile imports at the first name that is not ASCII
    for data in whole:  # everything else that is imported or made at the first use
        check_file(data, _written(scratch, data))
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    sys.addaudithook(_audit)
    counts: dict[str, int] = {}
    while time.time() < until:
        data = drawn_file(draw, whole)
        outcome = check_file(data, _written(scratch, data))
        counts[outcome] = counts.get(outcome, 0) + 1
    print(" ".join(f"{name}={count}" for name, count in sorted(counts.items())), flush=True)


def _written(scratch: Path, data: bytes) -> Path:
    scratch.write_bytes(data)
    return scratch


def main(arguments: list[str] | None = None) -> int:
    """Start children one after the other; return 1 if one of them found something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.replay is not None:
        print(check_file(options.replay.read_bytes(), options.replay))
        return 0
    if options.child is not None:
        child(options.seed, time.time() + options.seconds, options.child)
        return 0
    end, seed, total, failed = time.time() + options.seconds, options.seed, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "file"
        while (left := end - time.time()) > 0:
            command = [sys.executable, "-m", "tests.serialization.fuzz", "--child", str(scratch)]
            done = subprocess.run(
                [*command, "--seed", str(seed), "--seconds", str(min(left, 120))], capture_output=True, text=True
            )
            if done.returncode != 0:
                failed += 1
                kept = Path(tempfile.mkdtemp(prefix="reftorch-fuzz-")) / f"seed-{seed}.pt"
                kept.write_bytes(scratch.read_bytes())
                print(
                    f"seed {seed}: exit code {done.returncode}, the file is {kept}\n{done.stderr[-2000:]}", flush=True
                )
            for part in done.stdout.split():
                name, count = part.split("=")
                total[name] = total.get(name, 0) + int(count)
            seed += 1
    print(f"{sum(total.values())} files: {total}, {failed} findings", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
