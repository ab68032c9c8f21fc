"""What Python's debugger prints when a program runs under it.

Mirrors: nothing in PyTorch: the course's own.
"""

from __future__ import annotations

from course._tools import under_pdb


def test_commands_stand_before_what_they_print_and_no_path_is_told():
    printed = under_pdb("x = 1\nx = x + 1\n", "next", "p x", "quit")
    assert printed.splitlines() == [
        "> program.py(1)<module>()",
        "-> x = 1",
        "(Pdb) next",
        "> program.py(2)<module>()",
        "-> x = x + 1",
        "(Pdb) p x",
        "1",
        "(Pdb) quit",
    ]
