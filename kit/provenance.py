"""With what a figure was made: the commit of the kit, and the machine."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from typing import Any

from kit.files import ROOT


def git_state() -> dict[str, Any]:
    """The commit, and whether its files or the package differ from it; null outside a checkout.

    Files of the user's own beside them, such as run files, change no figure and do not count.
    """
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                              check=True).stdout.strip()
    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        added = git("status", "--porcelain", "--", "kit")  # a new module can change figures too
        return {"sha": git("rev-parse", "HEAD"), "dirty": bool(changed or added)}
    except (OSError, subprocess.CalledProcessError):
        return {"sha": None, "dirty": None, "reason": "not a git checkout"}


def machine() -> dict[str, Any]:
    """What kind of machine this is; not which."""
    return {"system": platform.system(), "architecture": platform.machine(),
            "cores": os.cpu_count(), "python": platform.python_version()}


def utc_now() -> str:
    """The time as scorecards and the ledger have it, to the second: 20300102T030405Z."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
