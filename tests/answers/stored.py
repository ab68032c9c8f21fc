"""The file of torch's answers: written by ``record.py``, read where torch is missing.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

Compressed by lzma. First a line of JSON, which names the file's origin; then the names of the tests, one a line and an
empty one; then a record for each, whose parts stand in columns, which compresses better.
"""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np

from tests.answers.fingerprint import Answers, _groups

FILE = Path(__file__).parent / "torch-2.13.xz"


def wanted() -> Path:
    """The file to read: another one while `make answers` tries its own."""
    return Path(os.environ.get("REFTORCH_ANSWERS", FILE))


def write(answers: dict[str, Answers], origin: dict[str, Any], file: Path = FILE) -> None:
    names = sorted(answers)
    rows = [answers[name] for name in names]
    columns: list[tuple[str, list[Any]]] = [
        ("<u4", [r.count for r in rows]),
        ("<u4", [r.total for r in rows]),
        ("<u4", [r.how_many_numbers for r in rows]),
        ("<u4", [len(r.messages) for r in rows]),
        ("<u2", [length for r in rows for length, _ in r.messages]),
        ("<u2", [checksum for r in rows for _, checksum in r.messages]),
        ("<u1", [x for r in rows for x in r.folded]),
        ("<f4", [x for r in rows for x in r.summed]),
    ]
    head = "\n".join([json.dumps(origin), *names, "", ""]).encode()
    body = b"".join(np.array(values, dtype=kind).tobytes() for kind, values in columns)
    file.write_bytes(lzma.compress(head + body, preset=9 | lzma.PRESET_EXTREME))


def read(file: Path = FILE) -> tuple[dict[str, Answers], dict[str, Any]]:
    if not file.exists():
        return {}, {}
    head, body = lzma.decompress(file.read_bytes()).split(b"\n\n", 1)
    origin, *names = head.decode().split("\n")
    at = 0

    def column(kind: str, count: int) -> list[Any]:
        nonlocal at
        values = np.frombuffer(body, dtype=kind, count=count, offset=at)
        at += values.nbytes
        return values.tolist()  # type: ignore[no-any-return]

    counts, totals, numbers, errors = (column("<u4", len(names)) for _ in range(4))
    lengths, sums = column("<u2", sum(errors)), column("<u2", sum(errors))
    folded = column("<u1", sum(len(_groups(n)) for n in counts))
    summed = column("<f4", sum(len(_groups(n)) for n in numbers))
    assert at == len(body), f"{file} is not whole"

    answers: dict[str, Answers] = {}
    a = b = c = 0
    for name, count, total, how_many, mistakes in zip(names, counts, totals, numbers, errors, strict=True):
        to_a, to_b, to_c = a + len(_groups(count)), b + len(_groups(how_many)), c + mistakes
        messages = tuple(zip(lengths[c:to_c], sums[c:to_c], strict=True))
        answers[name] = Answers(count, total, tuple(folded[a:to_a]), how_many, tuple(summed[b:to_b]), messages)
        a, b, c = to_a, to_b, to_c
    return answers, json.loads(origin)
