"""Writing a graph whose placeholders are the leaves of the arguments of the traced function.

Mirrors: torch/fx/graph.py (``_PyTreeCodeGen``)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reftorch.fx.graph.codegen import CodeGen
from reftorch.utils import _pytree as pytree


class _PyTreeInfo(NamedTuple):
    """How the arguments and results of a function are flattened.

    Mirrors torch/fx/graph.py, ``_PyTreeInfo``.
    """

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """The code generator for graphs that were traced with structures among ``concrete_args``.

    The placeholders of such a graph are the leaves of the arguments.

    Mirrors torch/fx/graph.py, ``_PyTreeCodeGen``.
    """

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """Return the leaves of the arguments."""
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        """Return the results in the traced function's structure."""
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """Return the beginning of the function: its parameters are the traced function's, which it then flattens."""
        orig_args = self.pytree_info.orig_args
        if orig_args and orig_args[0] == "self":
            free_vars.insert(0, "self")
        definition = super().gen_fn_def(orig_args[:], maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return definition
        # An assignment to several names cannot annotate them, so the annotations stand before it.
        annotated = [variable for variable in free_vars if ":" in variable]
        if annotated and expanded_def:
            definition += "\n    " + "\n    ".join(annotated)
        elif annotated:
            definition += "\n    " + "".join(variable + "; " for variable in annotated) + "\n"
        names = ", ".join(variable.split(":")[0].split("#")[0] for variable in free_vars)
        return definition + f"\n    {names}, = fx_pytree.tree_flatten_spec({self._flatten_arguments()})"

    def _flatten_arguments(self) -> str:
        orig_args, in_spec = self.pytree_info.orig_args, self.pytree_info.in_spec
        children = in_spec.children
        if in_spec.type is tuple and [child.type for child in children] == [tuple, dict]:  # (args, kwargs)
            count = len(children[0].children)
            kwargs = ", ".join(f"'{k}':{v}" for k, v in zip(children[1].context, orig_args[count:], strict=True))
            return f"([{', '.join(orig_args[:count])}], {{{kwargs}}}), self._in_spec"
        return f"[{', '.join(orig_args)}], self._in_spec"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[Any], str] | None = None,
    ) -> str:
        """Return the ``return`` statement, which rebuilds the traced function's structure."""
        if not self.pytree_info.out_spec:
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        return (
            f"return pytree.tree_unflatten({self._format_result(output_args, descs, repr_fn or repr)}, self._out_spec)"
        )
