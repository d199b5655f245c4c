"""Make the pictures of `docs/guide/studio.md`: rate made-up reviews in the studio, in Chromium.

python docs/make_studio.py
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tordinal.datasets import make_reviews

HERE = Path(__file__).parent
ROWS, RATINGS = 600, 44
GUIDE = """5: would buy it again
4: good, with a flaw
3: neither good nor bad
2: disappointed
1: sent it back"""
COMMAND = [sys.executable, "-c", "from tordinal.cli import main; main()", "studio"]


def write_table(path: Path) -> list[int]:
    """A table of reviews without stars; their stars."""
    import pandas as pd

    texts, stars = make_reviews(ROWS, random_state=0)
    shops = ["north", "south", "online"]
    pd.DataFrame({"review": texts, "shop": [shops[i % 3] for i in range(ROWS)]}).to_csv(
        path, index=False
    )
    return [int(s) for s in stars]


def rate(tab: Any, stars: list[int]) -> None:
    """Rate the row that is shown, and wait until the page has confirmed it."""
    rating = stars[tab.evaluate("state.item.row") - 2]
    tab.evaluate("document.getElementById('status').textContent = ''")
    tab.keyboard.press(str(rating))
    tab.wait_for_function("() => document.getElementById('status').textContent !== ''")


def main(folder: Path) -> None:
    table = folder / "reviews.csv"
    (folder / "guide.txt").write_text(GUIDE)
    stars = write_table(table)
    process = subprocess.Popen(
        [*COMMAND, str(table), "--target", "stars", "--order", "1,2,3,4,5", "--goal", "0.4",
         "--guide", str(folder / "guide.txt"), "--no-browser"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        address = next(
            found[0]
            for line in process.stderr
            if (found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line))
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                args=["--no-sandbox"],
            )
            tab = browser.new_page(viewport={"width": 1200, "height": 860})
            tab.goto(address)
            tab.wait_for_selector("#row-title:has-text('Row ')")
            for _ in range(RATINGS):
                rate(tab, stars)
            while tab.evaluate("ask('/api/estimates').then(e => e.behind)"):
                tab.wait_for_timeout(200)
            tab.wait_for_timeout(4000)  # the page asks for new estimates every three seconds
            for name, width in (("studio", 1200), ("studio-phone", 390)):
                tab.set_viewport_size({"width": width, "height": 860})
                tab.screenshot(path=HERE / f"{name}.png")
            browser.close()
    finally:
        process.terminate()
        process.wait(60)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
