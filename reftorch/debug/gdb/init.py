"""Loads reftorch's printers, commands and settings into gdb 12 to 18.

    gdb -x reftorch/debug/gdb/init.py --args python script.py

Mirrors: tools/gdb/pytorch-gdb.py
Left out: auto-loading by the name of the library, which gdb refuses until the user declares the folder safe.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import reftorch_gdb

reftorch_gdb.load()
