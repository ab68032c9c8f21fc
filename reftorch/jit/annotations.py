"""The names of types that programs import from here, to annotate functions for a compiler that is switched off.

Mirrors: torch/jit/annotations.py
Leaves out: what reads annotations and turns them into types of TorchScript.
"""

from reftorch import _jit_internal
from reftorch._jit_internal import Any, Dict, List, Optional, Tuple, Union

BroadcastingList1 = vars(_jit_internal)["BroadcastingList1"]
BroadcastingList2 = vars(_jit_internal)["BroadcastingList2"]
BroadcastingList3 = vars(_jit_internal)["BroadcastingList3"]

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]
