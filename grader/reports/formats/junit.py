"""JUnit XML: a suite for each suite of a document, a case for each of its cases.

A reader of JUnit, such as that of Jenkins or GitLab, refuses the whole file for one illegal character.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.reports.formats import FORMATS
from grader.wording import clean

if TYPE_CHECKING:
    import junitparser

    from grader.reports.document import Case, Document, Suite

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def make(document: Document) -> bytes:
    """Return the file, UTF-8. Raises UsageError for a document that has no cases."""
    import junitparser

    if document.suites is None:
        raise UsageError(
            f"{document.title} cannot be written as .xml (JUnit), which needs a verdict for each item. Write one of "
            f"{', '.join(ending for ending in FORMATS if ending != '.xml')}."
        )
    xml = junitparser.JUnitXml(_attribute(f"grade {document.names[0]}"))
    for suite in document.suites():
        xml.append(_suite(suite))
    xml.update_statistics()
    file = io.BytesIO()
    xml.write(file, pretty=True)
    return file.getvalue()


def _suite(suite: Suite) -> junitparser.TestSuite:
    import junitparser

    element = junitparser.TestSuite(_attribute(suite.name))
    for name, value in suite.properties:
        element.add_property(_attribute(name), _attribute(value))
    element.extend(map(_case, suite.cases))
    return element


def _case(case: Case) -> junitparser.TestCase:
    import junitparser

    element = junitparser.TestCase(_attribute(case.name), _attribute(case.class_name), case.seconds)
    kinds = {"failed": junitparser.Failure, "error": junitparser.Error, "skipped": junitparser.Skipped}
    if case.state != "passed":
        result = kinds[case.state](_attribute(case.message), _attribute(case.kind))
        if case.details:
            result.text = _text(case.details)
        element.append(result)
    if case.remarks:
        element.system_out = _text("\n".join(case.remarks))
    return element


def _text(text: str) -> str:
    """Replace characters that are illegal in XML: a parser would refuse the whole file for one of them."""
    return _ILLEGAL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _attribute(text: str) -> str:
    """Return an attribute's value, without line breaks and tabs, because a parser turns these into blanks."""
    return _text(clean(text) if "\n" in text or "\r" in text or "\t" in text else text)
