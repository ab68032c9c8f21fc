"""The course's tools: what the lessons and exercises are made with, and the learner's command.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: anything a lesson teaches; that lives in `reftorch`.
"""

from course._tools.checks import check
from course._tools.engine_steps import queue_steps
from course._tools.glossary import glossary
from course._tools.graphs import graph
from course._tools.magics import course, load_ipython_extension
from course._tools.pictures import Step, beside, route, tree_map
from course._tools.plots import bars, curve, images, operands
from course._tools.processes import process_tree
from course._tools.source import show_source
from course._tools.start_page import start_page
from course._tools.storages import memory, promotion
from course._tools.syllabus import course_map
from course._tools.symbol_map import symbol_map, torch_source

__all__ = [
    "Step",
    "bars",
    "beside",
    "check",
    "course",
    "course_map",
    "curve",
    "glossary",
    "graph",
    "images",
    "load_ipython_extension",
    "memory",
    "operands",
    "process_tree",
    "promotion",
    "queue_steps",
    "route",
    "show_source",
    "start_page",
    "symbol_map",
    "torch_source",
    "tree_map",
]
