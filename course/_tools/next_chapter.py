"""The last cell of a lesson: links to the next chapter and to the start page.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: the exercises; a lesson says itself how its exercises are started.
"""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

from course._tools.layout import Chapter, chapters

IDENTITY = "next-chapter"  # of the cell, by which the builder finds it again


def text(chapter: Chapter) -> str:
    """Return what the last cell of a chapter's lesson says."""
    numbers = [each.number for each in chapters()]
    following = chapters()[numbers.index(chapter.number) + 1 :][:1]
    links = [f"Next chapter: [{each.number} {each.title}](../{each.folder.name}/lesson.ipynb)." for each in following]
    return " ".join([*links, "All chapters: [start page](../index.ipynb)."])


def put_links(chapter: Chapter, lesson: NotebookNode) -> bool:
    """Bring the last cell of a lesson up to date, or append it; returns whether the lesson has changed."""
    if lesson.cells[-1].get("id") != IDENTITY:
        lesson.cells.append(nbformat.v4.new_markdown_cell(id=IDENTITY))
    changed = lesson.cells[-1].source != text(chapter)
    lesson.cells[-1].source = text(chapter)
    return changed


def link_all() -> list[Chapter]:
    """Bring the last cells of all lessons up to date, which takes no kernel; returns the chapters that have changed."""
    changed = []
    for chapter in chapters():
        lesson = nbformat.read(chapter.lesson, as_version=4)
        if put_links(chapter, lesson):
            chapter.lesson.write_text(nbformat.writes(lesson) + "\n")
            changed.append(chapter)
    return changed
