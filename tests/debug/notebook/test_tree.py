"""Building, filtering and folding call trees, without a recording.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: recordings; see test_call_tree.py.
"""

from __future__ import annotations

from reftorch.debug.core.symbols import Symbol, short_name
from reftorch.debug.notebook.tree import Node, build, cut, fold, hoist, keep

SYMBOLS = {i: Symbol(name, f"/x/{name}.cpp", i) for i, name in enumerate("abcdef")}


def tree(text: str) -> list[Node]:
    """`a(b c(d))` as nodes."""
    calls, depth, i = [], 0, 0
    while i < len(text):
        if text[i] in "()":
            depth += 1 if text[i] == "(" else -1
        elif text[i] != " ":
            calls.append((depth, 1, "abcdef".index(text[i])))
        i += 1
    return build(calls, SYMBOLS)


def text(nodes: list[Node]) -> str:
    """The nodes as `tree` reads them, counts behind the names."""
    out = []
    for node in nodes:
        children = f"({text(node.children)})" if node.children else ""
        count = str(node.count) if node.count > 1 else ""
        out.append(f"{node.name or '-'}{count}{children}")
    return " ".join(out)


def test_build_gives_each_call_its_caller() -> None:
    assert text(tree("a(b c(d)) e")) == "a(b c(d)) e"


def test_build_names_python_code() -> None:
    code = compile("def f(): pass", "/x/y.py", "exec")
    (module,) = build([(0, 1, code)], {})
    assert (module.name, module.file, module.line) == ("<module>", "/x/y.py", 1)


def test_hidden_calls_give_their_place_to_what_they_called() -> None:
    assert text(hoist(tree("a(b(c) d)"), lambda node: node.name == "b")) == "a(c d)"


def test_a_hidden_loop_keeps_its_count() -> None:
    nodes = build([(0, 1, 0), (1, 3, 1), (2, 1, 2), (2, 1, 3)], SYMBOLS)
    assert text(fold(hoist(nodes, lambda node: node.name == "b"))) == "a(-3(c d))"


def test_keep_leads_to_what_is_wanted() -> None:
    assert text(keep(tree("a(b(c) d) e"), lambda node: node.name == "c")) == "a(b(c))"


def test_fold_counts_equal_neighbours() -> None:
    assert text(fold(tree("a(b b b c b)"))) == "a(b3 c b)"


def test_fold_counts_only_equal_subtrees() -> None:
    assert text(fold(tree("a(b) a(b) a(c)"))) == "a2(b) a(c)"


def test_fold_finds_repeated_runs() -> None:
    assert text(fold(tree("a(b c b c b c d)"))) == "a(-3(b c) d)"


def test_cut_says_how_much_is_left_out() -> None:
    assert text(cut(tree("a(b(c d) e)"), 1)) == "a(... 4 more calls)"
    assert text(cut(tree("a(b(c d) e)"), 3)) == "a(b(c d) e)"


def test_short_names() -> None:
    cases = {
        "reftorch::at::Tensor reftorch::at::f<int, float>(int)": "at::f",
        "reftorch::at::(anonymous namespace)::f(reftorch::at::Tensor const&) const": "at::f",
        "reftorch::at::T<int>::operator()(int) const": "at::T::operator()",
        "bool reftorch::c10::operator==<long>(reftorch::c10::ArrayRef<long>)": "c10::operator==",
        "reftorch::at::Half::operator float() const": "at::Half::operator float",
        "void reftorch::at::f(int)::{lambda(float)#1}::operator()(float) const": "at::f::{lambda#1}",
        "std::ostream& reftorch::c10::operator<< <long>(std::ostream&, long)": "c10::operator<<",
    }
    assert {name: short_name(name) for name in cases} == cases
