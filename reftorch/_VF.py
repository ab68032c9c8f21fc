"""The functions that the binding makes from the schemas, for the modules that ``reftorch`` itself imports.

Mirrors: torch/_VF.py

``reftorch.stack`` is ``_VF.stack``. Those modules cannot import ``reftorch``, because it is not complete yet.
"""

from typing import TYPE_CHECKING, Any

from reftorch import _C

if TYPE_CHECKING:
    from reftorch._C._VariableFunctions import *


def __getattr__(name: str) -> Any:
    return getattr(_C._VariableFunctions, name)
