"""A checklist for a training run that does not learn, which the program goes through itself.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
"""
