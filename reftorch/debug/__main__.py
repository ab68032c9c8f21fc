"""`python -m reftorch.debug`: the doctor's report, for a reftorch that was installed; in a checkout, `make doctor`.

Mirrors: torch/utils/collect_env.py, which is run as a module in the same way
Left out: everything; see core/doctor.py, which runs as a program of its own.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    program = Path(__file__).with_name("core") / "doctor.py"
    os.execv(sys.executable, [sys.executable, str(program)])
