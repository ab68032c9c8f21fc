"""The names of torch.special are the ops they say, for a running program and for a type checker.

Mirrors: test/test_unary_ufuncs.py
"""

import ast
import inspect

import pytest

from reftorch import _C, _VF, special


def test_type_checkers_read_the_names_that_a_program_finds() -> None:
    tree = ast.parse(inspect.getsource(special))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert "\n".join(ast.unparse(line) for line in block.body) == "\n".join(
        f"{name} = {'_special' if op.startswith('special_') else '_VF'}.{op}" for name, op in special._OPS.items()
    )


def test_a_name_is_its_op() -> None:
    assert special.expit is _VF.sigmoid and special.i0e is _C._special.special_i0e
    assert set(special.__all__) <= set(dir(special))
    with pytest.raises(AttributeError, match=r"module 'reftorch.special' has no attribute 'expitt'"):
        special.expitt  # type: ignore[attr-defined]  # noqa: B018
