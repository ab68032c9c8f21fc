"""Lines of source for addresses in instrumented libraries, and names of shared variables.

Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
Leaves out: compilers without binutils; addr2line and readelf come with gcc.
"""

from __future__ import annotations

import functools
import linecache
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from reftorch._source_paths import here

SIMULATORS = ("/c10/cuda/sim/", "/c10/cuda/CUDALaunch.h")
ELEMENTS = ("/c10/util/Half.h", "/c10/util/BFloat16.h", "/c10/util/Load.h")  # what reads and writes an element
GUARD = "guard variable for"
# The simulator's precompiled headers in a kernel of `torch.cuda._compile_kernel`: gcc names the unit instead of the
# header. The lines of the kernel's own text have the text's name.
PRECOMPILED = re.compile(r"/kernel_[0-9a-f]{16}/unit\.cpp$")


class Place(NamedTuple):
    """A line of source in a function, whose name has its types."""

    function: str
    file: str
    line: int

    @property
    def source(self) -> str:
        """The text of the line, if the file is there."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def short(self) -> str:
        """The name of the file without its folder, and the line."""
        return f"{Path(self.file).name}:{self.line}"

    @property
    def is_of_the_kernel(self) -> bool:
        """Whether the line is in the kernel's own source, not in a header of the compiler, the simulator or halves."""
        is_simulators = any(map(self.file.__contains__, SIMULATORS)) or PRECOMPILED.search(self.file) is not None
        is_of_elements = self.file.endswith(ELEMENTS)
        return self.line > 0 and not self.file.startswith("/usr/") and not is_simulators and not is_of_elements


_known: dict[tuple[str, int], list[Place]] = {}


def look_up(addresses: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[Place]]:
    """Return the places of addresses, each a library and an offset: the innermost place first, inlined calls included.

    One addr2line answers for all new addresses of a library.
    """
    wanted: dict[str, set[int]] = defaultdict(set)
    for library, offset in addresses:
        if (library, offset) not in _known:
            wanted[library].add(offset)
    for library, offsets in wanted.items():
        _known.update({(library, offset): [] for offset in offsets})
        asked = "\n".join(map(hex, sorted(offsets)))
        command = ["addr2line", "-a", "-f", "-C", "-i", "-e", library]
        answer = subprocess.run(command, input=asked, capture_output=True, text=True).stdout
        for block in re.split(r"^0x(?=[0-9a-f]{16}$)", answer, flags=re.M)[1:]:
            first, *rest = block.splitlines()
            _known[library, int(first, 16)] = [
                _place(function, where) for function, where in zip(rest[::2], rest[1::2], strict=True)
            ]
    return _known


def _place(function: str, where: str) -> Place:
    file, _, line = where.split(" (discriminator")[0].rpartition(":")
    return Place(function, here(file), int(line) if line.isdigit() else 0)


def kernel_name(function: str) -> str:
    """Return the name of a kernel without namespaces, parameters and return type.

    >>> kernel_name("void reftorch::at::(anonymous namespace)::sum_kernel<float, at::Add<float> >(float*, int)")
    'sum_kernel<float, Add<float>>'
    """
    text = function.replace("(anonymous namespace)::", "").replace("> >", ">>").replace("> >", ">>")
    depth, end = 0, len(text)
    for i, sign in enumerate(text):
        if sign == "(" and depth == 0:
            end = i
            break
        depth += (sign == "<") - (sign == ">")
    text = re.sub(r"\b(?:[A-Za-z_]\w*::)+", "", text[:end])
    name = re.sub(r"^(?:static |void |inline )+", "", text.strip())
    return name if len(name) <= 60 else name.partition("<")[0] + "<...>"


@functools.cache
def shared_variables(library: str) -> list[tuple[int, int, str]]:
    """Return the ``__shared__`` variables of a library: the offset in a block's shared memory, bytes, and name.

    gcc gives an array of halves a guard variable, which says whether the array was initialized. Its name is GUARD.
    """
    command = ["readelf", "-sW", "-C", library]
    found = set()
    for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
        words = line.split(None, 7)
        if len(words) == 8 and words[3] == "TLS" and words[6] != "UND":
            name = GUARD if words[7].startswith(GUARD) else words[7].rpartition("::")[2]
            found.add((int(words[1], 16), int(words[2], 0), name))
    return sorted(found)


def is_guard(offset: int | None, library: str) -> bool:
    """Whether an offset in shared memory is of a variable that the compiler has added: no kernel means to use it."""
    if offset is None:
        return False
    return any(begin <= offset < begin + size and name == GUARD for begin, size, name in shared_variables(library))


def shared_offset(text: str) -> int | None:
    """Return the offset in shared memory that the watcher writes as ``shared memory @64``; None for other places."""
    found = re.search(r"shared memory @(\d+)", text)
    return int(found[1]) if found else None


def with_shared_name(text: str, library: str) -> str:
    """Replace an offset in shared memory, which the watcher writes as ``shared memory @64``, by a variable's name."""
    at = shared_offset(text)
    if at is None:
        return text
    for begin, size, name in shared_variables(library):
        if begin <= at < begin + size:
            where = f"byte {at - begin} of __shared__ {name}, which has {size} bytes"
            return text.replace(f"shared memory @{at}", where)
    return text
