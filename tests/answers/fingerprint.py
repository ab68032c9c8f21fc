"""What is kept of the answers that a library gave in one test, and when two such records are the same.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

Whatever is not a floating-point number has to be equal: a checksum is kept. The numbers of a tensor become two: their
weighted sum, relative to the sum of their magnitudes, and the logarithm of that sum. A wrong element of ordinary size
changes the first, a wrong scale the second, and rounding neither. A test with more answers than ``GROUPS`` keeps one
checksum for each of as many groups of answers that follow each other, which is enough to say where to look.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

GROUPS = 16
# How far two libraries' numbers may lie apart, relative to the numbers of the tensor, by the width of the float.
TOLERANCE = {"float64": 1e-6, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}
OTHER_WORDS = "torch's message is another one"
NOTHING = 1e-6  # numbers below are noise beside the tolerance of an ordinary tensor
_WEIGHTS = np.random.default_rng(18).uniform(0.5, 1.5, 1009) * np.random.default_rng(81).choice([-1.0, 1.0], 1009)
_TWO_LIBRARIES = re.compile(r"\breftorch\b")


def same_words(text: str) -> str:
    """A text without what may differ: the library's name, spaces, and the place of an object in memory."""
    return re.sub(r"\s+", " ", re.sub(r"0x[0-9a-f]{6,}", "0x", _TWO_LIBRARIES.sub("torch", text))).strip()


def _spell(value: Any, numbers: list[Any]) -> str:
    """A plain value as text; floating-point numbers are taken out of it, into ``numbers``."""
    if isinstance(value, (float, np.floating)):
        numbers.append(np.array([float(value)]))
        return "f"
    if isinstance(value, (complex, np.complexfloating)):
        numbers.append(np.array([value.real, value.imag], dtype=float))
        return "c"
    if value is None or isinstance(value, (bool, int, np.integer, np.bool_)):
        return str(value)
    if isinstance(value, str):
        return repr(same_words(value))
    if isinstance(value, np.ndarray):
        start = f"{value.dtype.str}{value.shape}"
        if value.dtype.kind in "fc":
            flat = np.ascontiguousarray(value).reshape(-1)
            numbers.append((flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat).astype(float))
            return start
        return start + value.tobytes().hex()
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(_spell(v, numbers) for v in value) + ")"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_spell(k, numbers)}:{_spell(v, numbers)}" for k, v in value.items()) + "}"
    if isinstance(value, type):
        return value.__name__
    if type(value).__name__ in ("dtype", "layout", "memory_format", "device"):
        return same_words(str(value))
    return type(value).__name__


@dataclass
class Log:
    """The answers of one test, in their order."""

    checksums: list[int] = field(default_factory=list)
    numbers: list[tuple[float, float]] = field(default_factory=list)  # weighted, for each answer that had floats
    tolerances: list[float] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)  # for whoever has to find the difference
    also_shown: list[str] = field(default_factory=list)

    def answer(self, what: str, value: Any, tolerance: float) -> None:
        numbers: list[Any] = []
        text = _spell(value, numbers)
        flat = np.concatenate(numbers) if numbers else np.empty(0)
        if flat.size:
            odd = ~np.isfinite(flat)
            text += "".join(str(x) for x in flat[odd]) + np.packbits(odd).tobytes().hex() if odd.any() else ""
            flat = np.where(odd, 0.0, flat)
            if np.abs(flat).max() > 1e300:  # their sum would not be finite
                flat = flat * 1e-9
            size = math.fsum(np.abs(flat)) + NOTHING * flat.size
            with np.errstate(over="ignore", invalid="ignore"):
                part = float(np.dot(np.resize(_WEIGHTS, flat.size), flat / size))
            turn = _WEIGHTS[len(self.numbers) % len(_WEIGHTS)]
            self.numbers.append((turn * part, turn * math.log(size / flat.size)))
            self.tolerances.append(tolerance)
            self.also_shown.append(f"{what}: {value}")
        self.checksums.append(zlib.crc32(text.encode()))
        self.shown.append(f"{what}: {value if len(text) < 200 else text[:200]}")

    def error(self, what: str, error: BaseException) -> None:
        self.checksums.append(zlib.crc32(type(error).__name__.encode()))
        self.messages.append(same_words(str(error).split("\n")[0]))
        self.shown.append(f"{what} raises {error!r}")


def _groups(count: int) -> list[slice]:
    size = max(1, math.ceil(count / GROUPS))
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]


def _folded(checksums: list[int]) -> list[int]:
    return [zlib.crc32(struct.pack(f"<{g.stop - g.start}I", *checksums[g])) & 0xFF for g in _groups(len(checksums))]


def _summed(numbers: list[tuple[float, float]]) -> list[float]:
    return [math.fsum(itertools.chain(*numbers[g])) for g in _groups(len(numbers))]


@dataclass(frozen=True)
class Answers:
    """What is stored of a log."""

    count: int
    total: int  # a checksum of all that is not a floating-point number
    folded: tuple[int, ...]
    how_many_numbers: int
    summed: tuple[float, ...]
    messages: tuple[tuple[int, int], ...]  # length and checksum; ours may say more after torch's words

    def without_messages(self) -> Answers:
        """The same, but any message will do: for a test that compares the errors' types alone."""
        return replace(self, messages=((0, 0),) * len(self.messages))

    @staticmethod
    def of(log: Log) -> Answers:
        return Answers(
            len(log.checksums),
            zlib.crc32(struct.pack(f"<{len(log.checksums)}I", *log.checksums)),
            tuple(_folded(log.checksums)),
            len(log.numbers),
            tuple(np.array(_summed(log.numbers), dtype=np.float32).tolist()),
            tuple((len(m), zlib.crc32(m.encode()) & 0xFFFF) for m in log.messages),
        )

    def difference(self, log: Log, strictness: float = 1.0) -> str | None:
        """Where ``log`` is not what these answers were, in words, or None."""
        if len(log.checksums) != self.count:
            return f"the test asked for {len(log.checksums)} answers, and for {self.count} where torch gave them"
        for group, mine, wanted in zip(_groups(self.count), _folded(log.checksums), self.folded, strict=True):
            if mine != wanted:
                return "one of these answers is not torch's:\n  " + "\n  ".join(log.shown[group])
        if zlib.crc32(struct.pack(f"<{self.count}I", *log.checksums)) != self.total:
            return "one of the answers is not torch's"
        if len(log.numbers) != self.how_many_numbers:
            return f"{len(log.numbers)} answers have numbers, and {self.how_many_numbers} of torch's"
        for group, got, want in zip(_groups(len(log.numbers)), _summed(log.numbers), self.summed, strict=True):
            allowed = strictness * 3 * sum(log.tolerances[group])
            if not abs(got - want) <= allowed + 1e-6 * abs(want):
                return f"the numbers of one of these answers are not torch's ({got} is not {want}):\n  " + "\n  ".join(
                    log.also_shown[group]
                )
        for message, (length, checksum) in zip(log.messages, self.messages, strict=True):
            if zlib.crc32(message[:length].encode()) & 0xFFFF != checksum:
                return f"{OTHER_WORDS}, of {length} letters: {message}"
        return None
