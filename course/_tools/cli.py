"""`reftorch-course`: the learner's commands.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: starting JupyterLab in a checkout, which is `make lab`; `open` shows a notebook in the one that is running.

Exit codes: 0 done, and for `check` all passed; 1 an exercise failed or is not done, or the course was not up to date;
2 the request cannot be carried out, and the message says what to do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from course._tools import lab, layout, mytorch, opening, work
from course._tools.checks import beside
from course._tools.exercises import exercises_of, find_exercise, solution
from course._tools.layout import CHECKING, ROOT, Chapter, CourseError, chapters, find_chapter, shown, to_run
from course._tools.syllabus import next_chapter

NOTEBOOK = 62  # characters that an output has in a window of 1000 pixels beside the list of files
Command = Callable[[Console, argparse.Namespace], int]
COLOURS = {"passed": "green", "failed": "red", "not done": "yellow"}


def busy(console: Console, text: str) -> AbstractContextManager[Any]:
    """A spinner in a terminal; nothing in a notebook, where it would need widgets, and nothing in a pipe."""
    return console.status(text) if console.is_terminal and not console.is_jupyter else nullcontext()


def _list(console: Console, arguments: argparse.Namespace) -> int:
    table = Table("chapter", "title", "exercises", "working copy", box=None, pad_edge=False)
    for chapter in chapters():
        where = shown(chapter.working_copy) if chapter.working_copy.exists() else "not started"
        table.add_row(chapter.folder.name, chapter.title, str(len(exercises_of(chapter))), where)
    console.print(table)
    return 0


def _lab(console: Console, arguments: argparse.Namespace) -> int:
    if not lab.is_installed() and lab.copy_around(ROOT) is None:
        raise CourseError(f"{ROOT} is a checkout; open the course with `make lab`")
    copy = lab.copy_around(Path.cwd()) if arguments.folder is None else None
    copy = copy or (arguments.folder or Path(lab.DEFAULT)).resolve()
    with busy(console, f"copying the course to {copy}"):
        made = lab.make_copy(copy)
        if lab.is_installed():
            lab.make_environment(copy)
    console.print(f"The course is in [bold]{copy}[/]{'' if made else ', as you left it'}; it is yours to change")
    if not arguments.no_lab:
        lab.open_lab(copy, arguments.options)
    return 0


def _start(console: Console, arguments: argparse.Namespace) -> int:
    chapter = find_chapter(arguments.chapter)
    before = chapter.working_copy.exists()
    copy, said = work.start(chapter)
    state = f"as you left it; `{to_run(f'reset {chapter.number}')}` starts again and keeps a backup" if before else ""
    console.print(f"Chapter {chapter.number} is in [bold]{shown(copy)}[/]{', ' if state else ''}{state}")
    console.print(
        f"Read {chapter.my_lesson.name}, solve {chapter.my_exercises.name}, then run "
        f"`{to_run(f'check {chapter.number}')}`"
    )
    return _tell(console, said)


def _update(console: Console, arguments: argparse.Namespace) -> int:
    said = work.update()
    console.print("Your copies are up to date with the course, and have all that you have written")
    return _tell(console, said)


def _tell(console: Console, said: list[str]) -> int:
    """Say what could not be merged."""
    for each in said:
        console.print(f"  {each}", markup=False)
    return 0


def _open(console: Console, arguments: argparse.Namespace) -> int:
    file = opening.notebook_of(find_chapter(arguments.chapter), arguments.notebook)
    if console.is_jupyter:  # one is running, for it shows this
        from IPython.display import HTML, display

        from course._tools.listing import link

        display(HTML(link(str(file), shown(file))))
        return 0
    address = opening.address_of(file)
    if opening.show(address):
        console.print(f"{shown(file)} is open in your browser")
    else:
        console.print(f"no browser could be started here; open this address in yours:\n{address}")
    return 0


def _check(console: Console, arguments: argparse.Namespace) -> int:
    chapter = find_chapter(arguments.chapter)
    notebook = shown(chapter.my_exercises)
    with busy(console, f"running {notebook}"):
        results = work.check(chapter)
    for result in results:
        console.print(
            Text.assemble((f"{result.exercise}  ", "bold"), (f"{result.state:9}", COLOURS[result.state]), result.what)
        )
        if result.state == "failed":
            console.print(Text(beside("      came:     ", result.came)))
            console.print(Text(beside("      expected: ", result.expected)))
    passed = sum(result.state == "passed" for result in results)
    saved = datetime.fromtimestamp(chapter.my_exercises.stat().st_mtime)
    console.print(f"\n{passed} of {len(results)} passed in {notebook}, as saved at {saved:%H:%M:%S}")
    if unsaved := work.not_saved(chapter, results):
        console.print(
            f"{', '.join(unsaved)} passed in your notebook after it was saved last: save the notebook (Ctrl-S), and "
            "check again"
        )
    for said in work.collect(chapter, results):
        console.print(said, markup=False)
    todo = next((result.exercise for result in results if result.state != "passed"), None)
    if todo:
        console.print(f"For help: `{to_run(f'hint {todo}')}`")
    work.note(chapter, results)  # last, so that what came is told even where nothing can be written
    return 0 if todo is None else 1


def _hint(console: Console, arguments: argparse.Namespace) -> int:
    chapter, exercise = find_exercise(arguments.exercise)
    seen = work.hints_seen(chapter, exercise.number)
    shown_now = len(exercise.hints) if arguments.all else min(seen + 1, len(exercise.hints))
    for position, hint in enumerate(exercise.hints[:shown_now], start=1):
        console.print(f"[bold]Hint {position} of {len(exercise.hints)}[/]")
        console.print(Markdown(hint))
    if shown_now == len(exercise.hints):
        console.print(f"That was the last; the solution: `{to_run(f'solution {exercise.number}')}`")
    elif chapter.working_copy.exists():
        console.print(f"The next one: `{to_run(f'hint {exercise.number}')}` again")
    else:
        start = f"`{to_run(f'start {chapter.number}')}`"
        console.print(f"Which hints you have seen is noted once the chapter is started ({start}); --all shows the rest")
    if shown_now != seen and not arguments.all:
        work.note_hints(chapter, exercise.number, shown_now)
    return 0


def _solution(console: Console, arguments: argparse.Namespace) -> int:
    _, exercise = find_exercise(arguments.exercise)
    for cell in exercise.answers:
        console.print(Syntax(solution(cell.source), "python", background_color="default"))
    return 0


def _mytorch(console: Console, arguments: argparse.Namespace) -> int:
    for part, state in list(mytorch.states()):
        if arguments.solutions and state == "missing":
            _tell(console, mytorch.put_solution(part))
    for line in repr(mytorch.Package(list(mytorch.states()))).splitlines():
        console.print(line, markup=False)
    missing = [part for part, state in mytorch.states() if state == "missing"]
    console.print(f"\nThe package is in [bold]{shown(mytorch.folder())}[/]; what you write there stays")
    if missing:
        console.print(
            "A part comes with its exercise, when the check passes. To take the missing ones from the course's "
            f"solutions: `{to_run('mytorch --solutions')}`"
        )
    return 0


def _reset(console: Console, arguments: argparse.Namespace) -> int:
    copy, backup = work.reset(find_chapter(arguments.chapter))
    console.print(f"Your work is kept in [bold]{shown(backup)}[/]; a fresh copy is in [bold]{shown(copy)}[/]")
    console.print("A notebook of it that is open shows the old text: in JupyterLab, File, Reload Notebook from Disk")
    return 0


def _status(console: Console, arguments: argparse.Namespace) -> int:
    table = Table("chapter", "passed", "exercises", "last checked", box=None, pad_edge=False)
    for chapter in chapters():
        table.add_row(chapter.folder.name, *_progress(chapter))
    console.print(table)
    console.print(f"\nnext: {next_chapter()}")
    return 0


def _progress(chapter: Chapter) -> tuple[str | Text, ...]:
    exercises = exercises_of(chapter)
    progress = work.read_progress(chapter)
    results = progress.get("results", {})
    passed = sum(results.get(number) == "passed" for number in exercises)
    states = {number: results.get(number, "-") for number in exercises}
    marks = Text("  ").join(
        Text(f"{number.partition('.')[2]} {state}", style=COLOURS.get(state, "")) for number, state in states.items()
    )
    started = chapter.working_copy.exists()
    return f"{passed} of {len(exercises)}", marks, progress.get("checked", "never" if started else "not started")


def _build(console: Console, arguments: argparse.Namespace) -> int:
    from course._tools.build import build
    from course._tools.next_chapter import link_all

    pages = {page.stem: page for page in layout.pages()}
    named = [pages[text] for text in arguments.chapters if text in pages]
    wanted = [find_chapter(text) for text in arguments.chapters if text not in pages]
    if not arguments.chapters:
        named, wanted = list(pages.values()), chapters()
    done = build(console, wanted, named, busy, look=arguments.check, run=not arguments.no_run)
    for chapter in [] if arguments.check else link_all():
        console.print(f"{layout.shown(chapter.lesson)}: links to the next chapter")
    return done


def _book(console: Console, arguments: argparse.Namespace) -> int:
    from course._tools.book import make_book

    with busy(console, "writing the pages"):
        start = make_book(arguments.folder.resolve())
    console.print(f"open {shown(start)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reftorch-course", description="Work through the reftorch course.")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(run: Command, help: str, **argument: str) -> argparse.ArgumentParser:
        added = commands.add_parser(run.__name__[1:], help=help, description=help)
        added.set_defaults(run=run)
        for name, text in argument.items():
            added.add_argument(name, help=text)
        return added

    a_chapter, an_exercise = "its number or name: 03, operator", "its number: 03.1"
    command(_list, "the chapters")
    opened = command(_lab, "copy the installed course into a folder, and open the folder in JupyterLab")
    opened.add_argument("folder", nargs="?", type=Path, help="./reftorch-course where not named; an old copy stays")
    opened.add_argument("--no-lab", action="store_true", help="only copy")
    command(_start, "copy a chapter to where you work on it, or bring your copy up to date", chapter=a_chapter)
    opened = command(_open, "show your copy of a chapter in JupyterLab", chapter=a_chapter)
    choices = {"nargs": "?", "choices": opening.NOTEBOOKS, "default": "lesson"}
    opened.add_argument("notebook", help="which notebook; the lesson where none is named", **choices)
    command(_check, "run your exercises and say what passed", chapter=a_chapter)
    hint = command(_hint, "the next hint to an exercise", exercise=an_exercise)
    hint.add_argument("--all", action="store_true", help="every hint at once")
    command(_solution, "a solution of an exercise", exercise=an_exercise)
    package = command(_mytorch, "the parts of your own package, which grows with the exercises")
    package.add_argument("--solutions", action="store_true", help="take the parts that are missing from the solutions")
    command(_reset, "start a chapter again; what you did is kept as a backup", chapter=a_chapter)
    command(_update, "bring your copies up to date with the course; nothing that you have written is lost")
    command(_status, "what passed so far")
    build = command(_build, "for those who write the course: make the exercise notebooks, run the lessons again")
    build.add_argument(
        "chapters", nargs="*", help="chapters to build, or index, whole_game, glossary, primer; all where none is named"
    )
    build.add_argument("--no-run", action="store_true", help="only what needs no kernel: exercises, folds, links")
    build.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a file is not up to date")
    book = command(_book, "the course as a web site, to read without JupyterLab")
    book.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "build" / "book", help="build/book where not named"
    )
    return parser


def _in_copy(argv: Sequence[str]) -> int:
    """Run the command again by the Python of the learner's copy around this folder."""
    copy = lab.copy_around(Path.cwd())
    if copy is None:
        raise CourseError(
            "this folder is in no copy of the course; make one with `reftorch-course lab`, or enter yours"
        )
    return subprocess.run([lab.python_of(copy), "-m", "course._tools", *argv]).returncode


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    arguments, options = parser.parse_known_args(argv)
    if arguments.run is None:
        parser.print_help()
        return 2
    if options and arguments.run is not _lab:  # JupyterLab has options of its own
        parser.error(f"unrecognized arguments: {' '.join(options)}")
    arguments.options = options
    console = Console(highlight=False, soft_wrap=True)
    if console.is_jupyter:
        console.width, console.soft_wrap = NOTEBOOK, False
    if os.environ.get(CHECKING):
        console.print("not carried out: a check runs this notebook")
        return 0
    try:
        if lab.is_installed() and arguments.run is not _lab:
            return _in_copy(sys.argv[1:] if argv is None else argv)
        with console if console.is_jupyter else nullcontext():  # below a cell all of it is one output, without gaps
            return arguments.run(console, arguments)
    except (CourseError, OSError) as error:  # an OSError names the file that cannot be read or written
        Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("error: ", "red"), str(error)))
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
