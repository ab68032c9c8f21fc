"""Settings of the interpreter.

Mirrors: torch/fx/config.py
"""

# Whether Interpreter.run shows no progress bar.
disable_progress = True

# Whether the progress bar names the nodes.
verbose_progress = False
