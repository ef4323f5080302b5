"""Take the picture of the page to work in: python docs/pictures/work.py FILE, in the root.

It needs planner on the PATH with the extra [operations], and Debian's chromium.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.browser import browsing

DUMP: Final = Path("instances/quickstart/cluster.json")
DROP: Final = """(() => {{
  const carried = new DataTransfer();
  carried.items.add(new File([{text}], "cluster.json"));
  document.body.dispatchEvent(new DragEvent("drop", {{ dataTransfer: carried, bubbles: true }}));
}})()"""
KINDS: Final = (
    "[...document.querySelectorAll('article .kind')].map((one) => one.textContent).join()"
)


def main(file: Path) -> None:
    """Write the picture to a file: a policy of the quickstart is changed, and hits others."""
    with (
        subprocess.Popen(
            ["planner", "serve", "--listen", ":0"],  # noqa: S607
            stderr=subprocess.PIPE,
            text=True,
        ) as server,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        browsing(Path(folder)) as tab,
    ):
        said = server.stderr.readline() if server.stderr else ""
        tab.look(1280, 1240)
        tab.call("Emulation.setScrollbarsHidden", hidden=True)
        tab.go(said.removeprefix("serve: ").strip())
        tab.run(DROP.format(text=json.dumps(DUMP.read_text("utf-8"))))
        tab.wait(f"{KINDS} === 'Preemption plan,Explanation'")
        tab.tab_to("[data-target='clusterqueue/nlp.preemption.reclaimWithinCohort']")
        tab.press("ArrowUp")
        tab.press("ArrowUp")
        tab.wait(f"{KINDS} === 'What an edit changes'")
        tab.run("scrollTo(0, 0)")
        tab.picture(file, whole=False)
        server.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
