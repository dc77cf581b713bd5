"""What is shown when files cannot be written."""

import errno
import os

import pytest

from grader.commands.console import writing
from grader.errors import InfrastructureError


def test_a_file_that_could_not_be_written_is_named_without_a_number_of_the_system() -> None:
    def full() -> list[object]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a_results.json")

    with pytest.raises(InfrastructureError) as caught:
        writing(full)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "The results could not be written: a_results.json: No space left on device. "
        "Make room, or write to another folder, and run the command again."
    )
