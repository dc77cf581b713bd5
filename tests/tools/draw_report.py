"""Makes docs/images/report.png: the HTML report of the bundled V* sample, as Chromium shows it.

python tests/tools/draw_report.py
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
SAMPLE = ROOT / "benchmarks/vstar/sample"
PICTURE = ROOT / "docs/images/report.png"
SIZE = {"width": 1120, "height": 612}


def main() -> None:
    """Grade the sample, open its report, and keep what is seen first."""
    with tempfile.TemporaryDirectory() as folder:
        predictions, report = Path(folder, "predictions.json"), Path(folder, "report.html")
        shutil.copy(SAMPLE / "predictions.json", predictions)
        words = [predictions, "-b", "vstar", "--data", SAMPLE / "questions.jsonl", "-o", report, "-q"]
        subprocess.run([sys.executable, "-m", "grader", *map(str, words)], check=True, cwd=ROOT)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(report.as_uri())
            page.get_by_text("Metrics").first.wait_for()
            PICTURE.parent.mkdir(exist_ok=True)
            page.screenshot(path=PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
