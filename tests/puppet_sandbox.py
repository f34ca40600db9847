"""`python -m sandbox` with a puppet in the place of bwrap: `python -m tests.puppet_sandbox …`."""

from __future__ import annotations

import sys

from sandbox.__main__ import main
from sandbox.choice import DRIVERS

if __name__ == "__main__":
    DRIVERS["bwrap"] = "tests.puppet_driver:PuppetDriver"
    sys.exit(main(["--driver", "bwrap", *sys.argv[1:]]))
