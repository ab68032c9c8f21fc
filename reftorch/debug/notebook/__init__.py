"""For a learner in a notebook: call trees, pictures of graphs and of memory, and the magics.

Mirrors: nothing in PyTorch, which has no tools for notebooks.
"""
