"""Starting, watching and ending the processes of a job.

Mirrors: torch/distributed/elastic/__init__.py
Leaves out: machines that join and leave, events, metrics, timers.
"""
