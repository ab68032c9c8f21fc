"""The course's tools: what the lessons and exercises are made with, and the learner's command.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: anything a lesson teaches; that lives in `reftorch`.
"""

from course._tools.checks import check
from course._tools.cpp_cells import printed
from course._tools.device_pictures import segments, stream_lanes, timeline
from course._tools.dispatch_pictures import kernel_row, loop_order
from course._tools.engine_steps import queue_steps
from course._tools.glossary import glossary
from course._tools.graphs import exec_info, graph
from course._tools.in_torch import stops_in_torch, write_for_torch
from course._tools.loader_steps import loader_steps
from course._tools.magics import course, load_ipython_extension
from course._tools.mytorch import use_mytorch
from course._tools.norm_pictures import class_tree, norm_cubes
from course._tools.ownership import Pointer, Thing, pointers, version_counters
from course._tools.pdb_session import under_pdb
from course._tools.pictures import Step, beside, lanes, route, tree_map
from course._tools.plots import bars, curve, curves, images, operands
from course._tools.predictions import predict, reveal
from course._tools.processes import process_tree
from course._tools.rebuilds import rebuild
from course._tools.registries import registries
from course._tools.source import show_source
from course._tools.stacks import stack
from course._tools.start_page import start_page
from course._tools.storages import memory, promotion
from course._tools.summaries import summary
from course._tools.syllabus import course_map
from course._tools.symbol_map import symbol_map, torch_source
from course._tools.torch_copies import patched_torch
from course._tools.torch_listing import show_torch_source
from course._tools.traces import trace

__all__ = [
    "Pointer",
    "Step",
    "Thing",
    "bars",
    "beside",
    "check",
    "class_tree",
    "course",
    "course_map",
    "curve",
    "curves",
    "exec_info",
    "glossary",
    "graph",
    "images",
    "kernel_row",
    "lanes",
    "load_ipython_extension",
    "loader_steps",
    "loop_order",
    "memory",
    "norm_cubes",
    "operands",
    "patched_torch",
    "pointers",
    "predict",
    "printed",
    "process_tree",
    "promotion",
    "queue_steps",
    "rebuild",
    "registries",
    "reveal",
    "route",
    "segments",
    "show_source",
    "show_torch_source",
    "stack",
    "start_page",
    "stops_in_torch",
    "stream_lanes",
    "summary",
    "symbol_map",
    "timeline",
    "torch_source",
    "trace",
    "tree_map",
    "under_pdb",
    "use_mytorch",
    "version_counters",
    "write_for_torch",
]
