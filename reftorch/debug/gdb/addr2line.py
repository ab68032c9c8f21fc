"""Answers as ``addr2line -fC`` does, inside gdb: for each offset of standard input, the function and FILE:LINE.

Mirrors: nothing in PyTorch: its unwinder reads DWARF itself.
Left out: inline functions, which our offsets, the beginnings of functions, never point into.
"""

import re
import sys

import gdb


def answer(offset):
    """Return the two lines for an offset into the file that gdb has open."""
    said = gdb.execute(f"info symbol {offset:#x}", to_string=True)
    name = re.split(r" \+ \d+ in section | in section ", said)[0]
    sal = gdb.find_pc_line(offset)
    place = f"{sal.symtab.filename}:{sal.line}" if sal.symtab is not None else "??:0"
    return f"{'??' if said.startswith('No symbol') else name}\n{place}"


for word in sys.stdin.read().split():
    print(answer(int(word, 16)))
