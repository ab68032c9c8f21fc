"""For the authors of tools: tables, pictures, names of tensors, a hook on every op. Nothing here is for users.

Mirrors: nothing in PyTorch, whose tools print with other packages.
"""
