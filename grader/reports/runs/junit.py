"""JUnit XML of several files: the suites of all files, named with the file's name first."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.reports import junit
from grader.reports.text import clean

if TYPE_CHECKING:
    import junitparser

    from grader.reports.runs.document import Document, GradedFile
    from grader.results import ReadingName


def make(document: Document) -> bytes:
    """Return the file; each item has the verdict of the document's reading."""
    import junitparser

    whole = junitparser.JUnitXml("grade")
    for one in document.files:
        for suite in _suites(one, document.reading):
            suite.name = f"{clean(one.file)}: {suite.name}"
            whole.add_testsuite(suite)
    whole.update_statistics()
    made = io.BytesIO()
    whole.write(made, pretty=True)
    return made.getvalue()


def _suites(one: GradedFile, reading: ReadingName) -> list[junitparser.TestSuite]:
    import junitparser

    if one.report is not None:
        return list(junitparser.JUnitXml.fromstring(junit.render(one.report, one.gates, reading)))
    # A file that could not be graded is an error, so that no CI system shows success.
    case = junitparser.TestCase("graded")
    case.result = [junitparser.Error(clean(one.problem))]
    suite = junitparser.TestSuite("grading")
    suite.add_testcase(case)
    return [suite]
