"""Where the C++ sources are: in a checkout, in an installed package, or in the learner's copy of one.

Mirrors: nothing in PyTorch, whose wheel has headers in torch/include and no sources.
Left out: libraries that somebody builds elsewhere and copies here.

In a checkout, the library contains the paths of the sources. The libraries of a wheel cannot, because pip puts the
sources where the user's environment is: they name their sources as a checkout at /reftorch would have them. And if a
checkout was moved after it was built, its library contains the paths of the old place. In both cases gdb is told by its
setting ``substitute-path``, and our tools call ``here``.

gdb's Python and the doctor load this file by its path: standard library only.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

PREFIX = "/reftorch"  # as in cpp/CMakeLists.txt
PACKAGE = Path(__file__).resolve().parent


def source_root(package: Path = PACKAGE) -> Path:
    """Return the folder that contains ``cpp``: the package, if it was installed, or the checkout around it."""
    return package if (package / "cpp").is_dir() else package.parent


def is_checkout(package: Path = PACKAGE) -> bool:
    """Return whether the library can be built here. A wheel has the sources, but not the build's own files."""
    return (package.parent / "cpp" / "CMakeLists.txt").exists()


def is_learners_copy(package: Path = PACKAGE) -> bool:
    """Return whether ``reftorch-course lab`` made this folder, where the sources lie as in a checkout."""
    return source_root(package) != package and not is_checkout(package)


@functools.cache
def built_at(package: Path = PACKAGE) -> tuple[str, ...]:
    """Return the folders, other than this one, by which a library here may name its sources.

    In a checkout they are those that the build trees were configured for, before the checkout was moved.
    """
    if not is_checkout(package):
        return (PREFIX,)
    root = source_root(package)
    caches = [cache.read_text(errors="replace") for cache in sorted(root.glob("build/*/CMakeCache.txt"))]
    found = (re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)/cpp$", cache, re.M) for cache in caches)
    return tuple(dict.fromkeys(home[1] for home in found if home and home[1] != str(root)))


def here(path: str, package: Path = PACKAGE) -> str:
    """Return the path that a source has on this machine.

    >>> here("/usr/include/c++/12/vector")
    '/usr/include/c++/12/vector'
    """
    for root in built_at(package):
        if path.startswith((f"{root}/cpp/", f"{root}/build/")):
            return f"{source_root(package)}{path[len(root) :]}"
    return path
