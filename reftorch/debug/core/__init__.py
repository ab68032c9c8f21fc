"""For a reader of the core: the places of an op, stacks of both languages, gdb, and the test of the machine.

Mirrors: nothing in PyTorch: its developers bring their own tools.
"""
