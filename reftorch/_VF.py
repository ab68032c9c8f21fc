"""The functions that the binding makes from the schemas, for the parts of the package that stand below ``reftorch``.

Mirrors: torch/_VF.py
Leaves out: nothing.

``reftorch.stack`` is ``_VF.stack``. A module of the package cannot ask ``reftorch`` itself, which imports that module.
"""

from typing import TYPE_CHECKING, Any

from reftorch import _C

if TYPE_CHECKING:
    from reftorch._C._VariableFunctions import *


def __getattr__(name: str) -> Any:
    return getattr(_C._VariableFunctions, name)
