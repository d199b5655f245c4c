"""Rate the table of the README: write docs/report.png and benchmarks/results/readme.txt.

Run ``python docs/make_report.py`` when what `tordinal label` prints or its report has changed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRINTED = ROOT / "benchmarks" / "results" / "readme.txt"
SIZE = {"width": 1000, "height": 800}


def pasted_lines() -> list[str]:
    """The commands of the README's section "Rate a table"."""
    section = (ROOT / "README.md").read_text().split("## Rate a table")[1].split("\n## ")[0]
    return re.findall(r"^tordinal .*", section, re.MULTILINE)


def run_lines(folder: str) -> str:
    """Run them in a folder and return what the last one prints."""
    for line in pasted_lines():
        command = [sys.executable, "-m", *line.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        PRINTED.write_text(run_lines(folder))
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=ROOT / "docs" / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
