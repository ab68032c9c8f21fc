"""`rebuild`: the library with a few lines changed, compiled and loaded elsewhere; the learner's tree stays as it is.

Mirrors: nothing in PyTorch: a build of PyTorch after such a change takes minutes.
Leaves out: changes that every file sees. A header that more than a few compilations include is refused, because
compiling them all takes as long as a build; so is a header of the precompiled ones.

A C++ file is compiled with the command that the build has for it. In the Debug build most files are compiled in
batches; then the changed file is compiled alone (1 to 3 s), and the rest of its batch beside the file, once: the rest
is kept in build/rebuild. The new objects and those of the build are linked to a library without debug information,
which takes half a second. Python runs on a copy of the package `reftorch`, with that library and the changed files.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import weakref
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course._tools.layout import ROOT
from course._tools.listing import WRAPS, link
from course._tools.outcomes import (
    MARKED,
    PLAIN,
    TEXT,
    TIMEOUT,
    Outcome,
    Processes,
    ended_together,
    framed,
    indented,
    run_program,
)
from course._tools.patches import Patched, apply, split_cell
from reftorch._source_paths import is_checkout

MOST_COMPILATIONS = 6
PCH = "cmake_pch.hxx"
# The editable install finds `reftorch` before the path is searched. In a process with this file the path comes first,
# and so in the processes that it starts.
PATH_FIRST = """import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

sys.meta_path.sort(key=lambda finder: finder not in (BuiltinImporter, FrozenImporter, PathFinder))
"""


class RebuildFailed(Exception):
    """The library could not be rebuilt; the text is the compiler's, or says what to do."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


# --- compiling --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unit:
    """One compilation of the build: its command, the file it compiles (a batch or the source), and its object."""

    command: str
    file: Path
    output: str


def loaded_build() -> Path:
    """The build tree of the library that is loaded.

    Raises:
        RebuildFailed: there is none, or it was made elsewhere.
    """
    import reftorch

    build = ROOT / "build" / Path(reftorch._C.__file__).parent.name
    if not is_checkout():
        raise RebuildFailed(
            "This library was installed, and only a checkout of reftorch can compile it again; the README says how to "
            "get one. The lesson's stored output says what the cell does there."
        )
    if not (build / "compile_commands.json").exists():
        raise RebuildFailed(f"There is no build in build/{build.name}: run `make {build.name.lower()}` first.")
    return build


def _units(build: Path) -> list[Unit]:
    entries = json.loads((build / "compile_commands.json").read_text())
    return [Unit(entry["command"], Path(entry["file"]), entry["output"]) for entry in entries]


def _compiles(unit: Unit, source: Path) -> bool:
    return unit.file == source or ("/Unity/" in str(unit.file) and f'"{source}"' in unit.file.read_text())


def _ninja(build: Path, *words: str) -> str:
    beside = Path(sys.executable).with_name("ninja")
    ninja = str(beside) if beside.exists() else shutil.which("ninja")
    if ninja is None:
        raise RebuildFailed("There is no ninja: run `make debug` first.")
    done = subprocess.run([ninja, "-C", str(build), *words], capture_output=True, text=True)
    if done.returncode:
        raise RebuildFailed(f"ninja {' '.join(words)} failed: {done.stderr or done.stdout}")
    return done.stdout


def _including(build: Path, header: Path) -> list[str]:
    """The objects of the library that depend on a header.

    Raises:
        RebuildFailed: the header is precompiled, or too many compilations include it.
    """
    objects, current = [], ""
    for line in _ninja(build, "-t", "deps").splitlines():
        if line and not line[0].isspace():
            current = line.split(": #deps")[0]
        elif line.strip() and (build / line.strip()).resolve() == header and current not in objects:
            objects.append(current)
    objects = [each for each in objects if "reftorch_tests" not in each]
    shown = header.relative_to(ROOT).as_posix()
    if any(PCH in each for each in objects):
        raise RebuildFailed(
            f"{shown} is precompiled, because nearly every file includes it: to change it takes a whole build. "
            "Change a .cpp file here; or edit the header and run `make debug`."
        )
    if len(objects) > MOST_COMPILATIONS:
        raise RebuildFailed(
            f"{len(objects)} compilations include {shown}, and %%rebuild does at most {MOST_COMPILATIONS}. "
            "Change a .cpp file here; or edit the header and run `make debug`."
        )
    return objects


def _to_compile(build: Path, files: list[Patched]) -> list[Unit]:
    """Return the units that have to be compiled again."""
    units = _units(build)
    wanted: dict[str, Unit] = {}
    for file in files:
        source = ROOT / file.path
        if file.path.endswith(".cpp"):
            found = [unit for unit in units if _compiles(unit, source) and "reftorch_tests" not in unit.output]
            if not found:
                raise RebuildFailed(f"{file.path} is in no build of the library: run `make debug` first.")
            wanted |= {_relative(build, unit.output): unit for unit in found}
        elif file.path.endswith(".h"):
            outputs = _including(build, source)
            wanted |= {output: unit for unit in units if (output := _relative(build, unit.output)) in outputs}
    return list(wanted.values())


def _relative(build: Path, output: str) -> str:
    return os.path.relpath(build / output, build)


@dataclass(frozen=True)
class Part:
    """One run of the compiler: the source, the object, and the object of the build that it replaces (in part)."""

    command: str
    source: Path
    out: Path
    replaces: str
    includes: Path | None  # a folder whose headers come before those of the tree


def _parts(build: Path, unit: Unit, folder: Path, files: list[Patched]) -> list[Part]:
    """Return what to compile in place of one unit.

    Of a batch the changed files are compiled alone. The rest of the batch is compiled once and kept in build/rebuild,
    because a learner who changes a file once will change the file again.
    """
    output = _relative(build, unit.output)
    name = re.sub(r"\W+", "_", output)
    first = folder / "cpp"
    is_batch = "/Unity/" in str(unit.file)
    text = unit.file.read_text() if is_batch else ""
    changed = [file for file in files if f'"{ROOT / file.path}"' in text or ROOT / file.path == unit.file]
    if not changed:  # a header changed
        return [Part(unit.command, unit.file, folder / f"{name}.o", output, first)]
    parts = [
        Part(unit.command, folder / file.path, folder / f"{name}{number}.o", output, first)
        for number, file in enumerate(changed)
    ]
    rest = "\n".join(line for line in text.split("\n") if not any(f'"{ROOT / file.path}"' in line for file in changed))
    if "#include" not in rest:
        return parts
    if any(file.path.endswith(".h") for file in files):
        kept, includes = folder / f"{name}_rest.o", first
    else:
        without = "_".join(Path(file.path).stem for file in changed)
        kept, includes = build.parent / "rebuild" / f"{name}_without_{without}.o", None
        if kept.exists() and kept.stat().st_mtime > (build / output).stat().st_mtime:
            return [*parts, Part("", kept, kept, output, None)]
    source = folder / f"{name}_rest.cxx"
    source.write_text(rest)
    return [*parts, Part(unit.command, source, kept, output, includes)]


def _compile(build: Path, part: Part, folder: Path, files: list[Patched], processes: Processes) -> tuple[str, Path]:
    """Compile one part; returns the object of the build, and the new one."""
    if not part.command:
        return part.replaces, part.out
    made = folder / f"{part.out.name}.made"
    words = shlex.split(part.command)
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(part.source)
    first = next(position for position, word in enumerate(words) if word.startswith("-I"))
    # What a file calls itself in an assertion is its place in the tree.
    options = [f"-fmacro-prefix-map={folder}={ROOT}", "-fdiagnostics-color=never", "-w"]
    words[first:first] = [*options, *([f"-I{part.includes}"] if part.includes else [])]
    words.append("-g0")  # the linker would drop the debug information anyway
    # The compiler keeps what it makes on the way in TMPDIR, and a compiler that is ended leaves it there.
    code, said, errors = processes.run(words, cwd=build, env={**os.environ, "TMPDIR": str(folder)})
    if code:
        raise RebuildFailed(_as_said(said + errors, folder, files))
    part.out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, part.out)  # under its name only when it is whole
    return part.replaces, part.out


def _compiled(
    build: Path, units: list[Unit], folder: Path, files: list[Patched], processes: Processes
) -> dict[str, list[str]]:
    """Compile what the units need, as much at once as there are processors; returns new objects for each old one."""
    parts = [part for unit in units for part in _parts(build, unit, folder, files)]
    objects: dict[str, list[str]] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        try:
            for replaced, made in pool.map(lambda part: _compile(build, part, folder, files, processes), parts):
                objects.setdefault(replaced, []).append(str(made))
        except BaseException:
            processes.end_all()  # before the pool waits for its threads
            raise
    return objects


def _as_said(text: str, folder: Path, files: list[Patched]) -> str:
    """The compiler's words, with the places of the learner: the file's path, and the line of the cell."""
    shown = []
    for line in text.replace(f"{folder}/", "").replace(f"{ROOT}/", "").splitlines():
        if re.match(r"(In file included from|\s+from) \S*(_cxx_o\.cxx|\.cxx):\d+", line):
            continue
        place = re.match(r"(\S+?):(\d+):\d+: ", line)
        cell = place and next((file.origin.get(int(place[2])) for file in files if file.path == place[1]), None)
        if cell:
            shown.append(f"in line {cell} of the cell:")
        shown.append(line)
    if len(shown) > 25:
        shown = [*shown[:25], f"... {len(shown) - 25} more lines"]
    return "\n".join(["The compiler refused the change; nothing was run.", *shown])


def _link(build: Path, library: Path, objects: dict[str, list[str]], out: Path, processes: Processes) -> None:
    """The library, with new objects in place of old ones, and without debug information, which halves the time."""
    command = _ninja(build, "-t", "commands", str(library)).splitlines()[-1]
    # `: && c++ ... -o LIBRARY && cd FOLDER && objcopy ...`: the last part makes gdb start faster, and is left out.
    words = next(shlex.split(part) for part in command.split(" && ") if " -o " in part)
    words = [new for word in words for new in objects.get(os.path.normpath(word), [word])]
    words[words.index("-o") + 1] = str(out)
    environment = {**os.environ, "TMPDIR": str(out.parent)}
    code, said, errors = processes.run([*words, "-Wl,--strip-debug"], cwd=build, env=environment)
    if code:
        lines = (said + errors).splitlines()[:20]
        raise RebuildFailed("\n".join(["The linker refused the change; nothing was run.", *lines]))


# --- the whole --------------------------------------------------------------------------------------------------------


class Changed:
    """The library with a change, in a folder of its own that goes with this object."""

    def __init__(self, files: list[Patched], folder: Path, compiled: int) -> None:
        self.files = files
        self.folder = folder
        self.compiled = compiled
        self._end = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def run(self, program: str, *, timeout: float = TIMEOUT, processes: Processes | None = None) -> Outcome:
        """Run a program in a process of its own, whose `reftorch` is the changed one."""
        return run_program(program, path=(str(self.folder),), timeout=timeout, processes=processes)

    def close(self) -> None:
        """Remove the folder."""
        self._end()


def rebuild(file: str, patch: str, *, processes: Processes | None = None) -> Changed:
    """The library with `patch` applied to `file`, compiled in a scratch folder; for exercises and checks.

    Args:
        file: a source of the library, .cpp, .h or .py, by its path or the path's end.
        patch: lines with `-`, `+` or a space before them, as `%%rebuild` takes them.
        processes: what ends the compiler, where the cell is interrupted.

    Raises:
        PatchError: the patch does not fit.
        RebuildFailed: the compiler refused it; the text is the compiler's.
    """
    hunks, _, _ = split_cell(file, patch)
    return _rebuilt(apply(hunks), processes or Processes())


def packed(file: str, patch: str) -> str:
    """A file and a patch as one word that tells nobody what it does, for an exercise with a broken library."""
    return base64.b85encode(zlib.compress(f"{file}\n{patch}".encode(), 9)).decode()


def unpacked(word: str) -> tuple[str, str]:
    """The file and the patch, as `rebuild` takes them."""
    file, _, patch = zlib.decompress(base64.b85decode(word)).decode().partition("\n")
    return file, patch


def _rebuilt(files: list[Patched], processes: Processes) -> Changed:
    build = loaded_build()
    library = ROOT / "reftorch" / "lib" / build.name
    native = [file for file in files if not file.path.endswith(".py")]
    import reftorch

    extension = Path(reftorch._C.__file__)
    stale = [f.path for f in native if (ROOT / f.path).stat().st_mtime > extension.stat().st_mtime]
    if stale:
        target = build.name.lower()
        raise RebuildFailed(f"{', '.join(stale)} was edited after the last build: run `make {target}` first.")
    folder = Path(tempfile.mkdtemp(prefix="reftorch-rebuild-"))
    try:
        for file in files:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.path).write_text(file.text)
        (folder / "sitecustomize.py").write_text(PATH_FIRST)
        _copy_package(folder)
        scratch = folder / "reftorch" / "lib" / build.name
        scratch.mkdir(parents=True)
        units = _to_compile(build, native)
        if units:
            objects = _compiled(build, units, folder, native, processes)
            _link(build, library / extension.name, objects, scratch / extension.name, processes)
        else:
            (scratch / extension.name).symlink_to(extension)
        return Changed(files, folder, len(units))
    except BaseException:
        processes.end_all()
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy_package(folder: Path) -> None:
    """The Python files of the package, but for those that are changed and lie there already."""
    package = ROOT / "reftorch"
    for here, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in ("lib", "__pycache__")]
        target = folder / "reftorch" / Path(here).relative_to(package)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (target / name).exists():
                shutil.copyfile(Path(here) / name, target / name)


@dataclass
class Comparison:
    """The outcomes of a program without a change and with it."""

    files: list[Patched]
    patch: str
    before: Outcome
    after: Outcome

    @property
    def differs(self) -> bool:
        return str(self.before) != str(self.after)

    def __repr__(self) -> str:
        title = f"{', '.join(file.path for file in self.files)}, changed in a scratch copy"
        if not self.differs:
            return f"{title}\nThe change makes no difference here; both print\n{indented(self.before)}"
        return f"{title}\nwithout the change\n{indented(self.before)}\nwith the change\n{indented(self.after)}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        places = ", ".join(link(file.path) for file in self.files).replace("<a ", '<a style="color:#0550ae" ')
        columns = [("without the change", self.before, PLAIN), ("with the change", self.after, MARKED)]
        if not self.differs:
            columns = [("without the change and with it", self.before, PLAIN)]
        head = f"<b>{places}</b> &nbsp; changed in a scratch copy; your files and your build are as they were"
        page = framed(
            head, columns, f'<pre style="{TEXT};{WRAPS};border-bottom:1px solid #d8dee4">{_coloured(self.patch)}</pre>'
        )
        return {"text/plain": repr(self), "text/html": page}


def _coloured(patch: str) -> str:
    colours = {"-": "#ffebe9", "+": "#dafbe1"}
    lines = []
    for line in patch.splitlines():
        style = f"background:{colours.get(line[:1], '#fff')};display:inline-block;min-width:100%"
        lines.append(f'<span style="{style}">{html.escape(line)}</span>')
    return "\n".join(lines)


def compare(file: str, cell: str, *, timeout: float = TIMEOUT) -> Comparison:
    """Run the program of a `%%rebuild` cell on the library as it is and on the changed one.

    Raises:
        PatchError: the patch does not fit.
        RebuildFailed: the compiler refused it; the text is the compiler's.
    """
    hunks, program, before = split_cell(file, cell)
    files = apply(hunks)
    patch = "\n".join(cell.splitlines()[: before - 1]).strip("\n")
    with ended_together() as processes, ThreadPoolExecutor(max_workers=1) as pool:
        try:
            unchanged = pool.submit(run_program, program, timeout=timeout, processes=processes)
            changed = _rebuilt(files, processes)
            try:
                after = changed.run(program, timeout=timeout, processes=processes)
            finally:
                changed.close()
            return Comparison(files, patch, unchanged.result(), after)
        except BaseException:
            processes.end_all()  # before the pool waits for the other program
            raise
