"""`course/work/mytorch`: the learner's own package, which grows by a module with each passed exercise that is a part.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: making the parts fit together; chapter 16 asks the learner for that.

A module of the package has the imports and the given functions that its exercise needs, and the learner's answer as it
passed. A hidden file keeps what was written, so that a module that the learner has edited is never overwritten.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import linecache
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from course._tools.exercises import Exercise, find_exercise, solution, solved_cells
from course._tools.layout import CourseError, chapters, shown, to_run, workspace

PACKAGE = "mytorch"
GIVEN = ".given.json"  # beside the modules: what was written into each of them, and whose answer it is
YOURS, OURS = "yours", "the course's"


@dataclass(frozen=True)
class Part:
    """A module of the package, the exercise whose answer it holds, and what it is."""

    module: str
    exercise: str
    what: str


PARTS = (
    Part("ndarray", "02.8", "an array: a storage, sizes, strides, an offset"),
    Part("function", "05.5", "a Function that works in place, leaky ReLU"),
    Part("engine", "06.8", "an engine with hooks and create_graph"),
    Part("module", "07.6", "Module, with its hooks"),
    Part("lion", "09.6", "an optimizer from a paper"),
    Part("loader", "10.6", "a loader with worker processes"),
    Part("fusion", "13.6", "a pass over traced programs"),
    Part("allocator", "15.7", "a caching allocator, on plain numbers"),
    Part("layers", "16.1", "layers made of Module"),
    Part("shuffled", "16.2", "the order of an epoch"),
    Part("adam", "16.3", "Adam"),
)


def folder() -> Path:
    """The folder of the package."""
    return workspace() / PACKAGE


def parts() -> list[Part]:
    """The parts whose chapters are there."""
    numbers = {chapter.number for chapter in chapters()}
    return [part for part in PARTS if part.exercise[:2] in numbers]


def part_of(exercise: str) -> Part | None:
    """The part that an exercise's answer becomes; None for most exercises."""
    return next((part for part in parts() if part.exercise == exercise), None)


def put(part: Part, answer: str, whose: str = YOURS) -> list[str]:
    """Write a part into the package; returns what the learner should know.

    Args:
        part: which.
        answer: the source of the exercise's answer.
        whose: `YOURS`, or `OURS` for a solution of the course.
    """
    text, missing = _module_text(part, answer, whose)
    kept = _kept()
    file = folder() / f"{part.module}.py"
    record = kept.get(file.name)
    folder().mkdir(parents=True, exist_ok=True)
    start = folder() / "__init__.py"
    if not start.exists():
        _write(start, '"""My own PyTorch: each module is an exercise of the course that I have solved."""\n')
    said = []
    if not file.exists() or _digest(file.read_text()) == (record and record["digest"]):
        _write(file, text)
        kept[file.name] = {"digest": _digest(text), "whose": whose}
        _write(folder() / GIVEN, json.dumps(kept, indent=1) + "\n")
    elif file.read_text() != text:
        other = file.with_name(f"{part.module}_passed.py")
        _write(other, text)
        said.append(f"you have edited {shown(file)}, and it is as you left it; what passed is {other.name} beside it")
        file = other
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        said.append(f"{shown(file)} uses {names}, which other cells of your notebook make: write them into the file")
    return said


def put_solution(part: Part) -> list[str]:
    """Write the course's solution of a part into the package; returns what the learner should know."""
    return put(part, _joined(solution(cell.source) for cell in find_exercise(part.exercise)[1].answers), OURS)


def put_passed(exercise: str, sources: Iterable[str]) -> list[str]:
    """Write an answer that has passed into the package, if its exercise is a part; returns what is to be said."""
    part = part_of(exercise)
    if part is None:
        return []
    file = folder() / f"{part.module}.py"
    before = file.read_text() if file.exists() else ""
    said = put(part, _joined(sources))
    if file.read_text() != before:
        said.insert(0, f"your answer is {shown(file)} now, a part of your package")
    return said


def put_running(exercise: str, names: dict[str, Any]) -> list[str]:
    """Write the answer that has passed in a running notebook into the package, if its exercise is a part.

    Args:
        exercise: its number.
        names: the variables of the notebook. The cell that has made the answer is found by the answer's code.
    """
    part = part_of(exercise)
    if part is None:
        return []
    made = [node.name for node in _definitions(_joined(solution(c.source) for c in _exercise(part).answers))]
    files = [code.co_filename for name in made for code in _codes(names.get(name))][:1]
    sources = ["".join(linecache.getlines(file)) for file in dict.fromkeys(files)]
    return put_passed(exercise, sources) if any(sources) else []


def states() -> Iterator[tuple[Part, str]]:
    """Each part with its state: missing, yours, the course's, or one of these, edited."""
    kept = _kept()
    for part in parts():
        file = folder() / f"{part.module}.py"
        record = kept.get(file.name)
        if not file.exists():
            yield part, "missing"
        elif record is None:
            yield part, YOURS
        else:
            edited = _digest(file.read_text()) != record["digest"]
            yield part, f"{record['whose']}, edited" if edited else record["whose"]


class Package:
    """Return a list of the package's parts, one line for each."""

    def __init__(self, rows: list[tuple[Part, str]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "\n".join(
            f"mytorch.{part.module:9} {part.exercise}  {state:12}  {part.what}" for part, state in self.rows
        )


def use_mytorch(*modules: str, fill: bool = False) -> Package:
    """Make `import mytorch` find the learner's package, and return what is in the package.

    Args:
        modules: what the program will import; all parts that are there where none is named.
        fill: whether the parts that are missing are taken from the course's solutions.

    Raises:
        CourseError: a module that the program will import is missing, and is not to be taken from the solutions.
    """
    wanted = [(part, state) for part, state in states() if not modules or part.module in modules]
    missing = [part for part, state in wanted if state == "missing"]
    if fill:
        for part in missing:
            put_solution(part)
    elif modules and missing:
        names = ", ".join(f"{part.module} (exercise {part.exercise})" for part in missing)
        raise CourseError(f"your package lacks {names}; `{to_run('mytorch --solutions')}` takes the course's")
    place = str(workspace())
    if place not in sys.path:
        sys.path.insert(0, place)
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]  # a module may have been written again since it was imported
    return Package([(part, state) for part, state in states() if (part, state) in wanted or part in missing])


# --- the text of a module ---------------------------------------------------------------------------------------------


def _module_text(part: Part, answer: str, whose: str) -> tuple[str, list[str]]:
    """The text of a part's module, and the names that it uses and nothing in it makes."""
    chapter, exercise = find_exercise(part.exercise)
    setup = [cell.source for cell in solved_cells(chapter) if cell.kind == "code" and "exercise" not in cell.attributes]
    given = [cell.source for cell in exercise.cells.get("given", [])]
    made, used = _names(ast.parse(answer))
    wanted = used - made
    above: list[str] = []
    for source in reversed([*setup, *given]):  # a function that is given needs the imports above it
        for statement in reversed(ast.parse(source).body):
            text = _needed(statement, source, wanted)
            if text:
                statement_made, statement_used = _names(ast.parse(text))
                wanted = (wanted - statement_made) | (statement_used - statement_made)
                above.insert(0, text)
    owner = {YOURS: "your", OURS: OURS}[whose]
    head = f'"""{part.what[0].upper()}{part.what[1:]}: exercise {part.exercise}, {owner} answer."""'
    imports = [text for text in above if text.startswith(("import ", "from "))]
    blocks = [text for text in above if text not in imports]
    text = "\n\n\n".join(["\n\n".join(filter(None, [head, "\n".join(imports)])), *blocks, answer.strip("\n")]) + "\n"
    known = set(dir(builtins)) | {"__name__", "__file__"}
    return text, sorted(wanted - known)


def _needed(statement: ast.stmt, source: str, wanted: set[str]) -> str:
    """Return the source of a statement that makes a wanted name, of an import its wanted names; otherwise nothing."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [alias for alias in statement.names if (alias.asname or alias.name).split(".")[0] in wanted]
        if not names:
            return ""
        copy = type(statement)(**{**dict(ast.iter_fields(statement)), "names": names})
        return ast.unparse(copy)
    made = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        made = {statement.name}
    elif not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return ""
    if not made & wanted:
        return ""
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])


def _names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The names that a program makes somewhere, and those that it uses."""
    made: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            made |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return made, used


def _exercise(part: Part) -> Exercise:
    return find_exercise(part.exercise)[1]


def _definitions(source: str) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.parse(source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def _codes(thing: Any) -> Iterator[CodeType]:
    """The code of a function, or of the functions of a class."""
    members = [thing, *(vars(thing).values() if isinstance(thing, type) else ())]
    for member in members:
        function = getattr(member, "__func__", member)
        if hasattr(function, "__code__"):
            yield function.__code__


def _joined(sources: Iterable[str]) -> str:
    return "\n\n\n".join(source.strip("\n") for source in sources)


# --- the folder -------------------------------------------------------------------------------------------------------


def _kept() -> dict[str, dict[str, str]]:
    """Return what was written: nothing if nothing readable was noted, so that no module is overwritten."""
    try:
        return json.loads((folder() / GIVEN).read_text())
    except (FileNotFoundError, ValueError):
        return {}


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    whole = file.with_name(f".{file.name}.{os.getpid()}")
    whole.write_text(text)
    whole.replace(file)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
