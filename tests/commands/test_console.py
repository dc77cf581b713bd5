"""What is shown when files cannot be written, and how wide a terminal is."""

import errno
import fcntl
import os
import struct
import termios

import pytest

from grader.commands.console import say, terminal_width
from grader.commands.output_files import write_run


class FullDisk:
    def write(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a_results.json")


def test_a_file_that_could_not_be_written_is_named_without_a_number_of_the_system() -> None:
    error = write_run(FullDisk(), lambda: None, (), str, quiet=True)  # type: ignore[arg-type]
    assert str(error) == (
        "The results could not be written: a_results.json: No space left on device. "
        "Make room, or write to another folder, and run the command again."
    )


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_message_is_one_line_in_a_log_and_is_broken_between_words_on_a_terminal(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    read, write = os.openpty() if is_terminal else os.pipe()
    with os.fdopen(read, "rb") as log, os.fdopen(write, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        say("error: " + "many words " * 20)
        lines = os.read(log.fileno(), 1000).decode().splitlines()
    assert (len(lines) > 1) == is_terminal
    assert not any(len(line) > 60 for line in lines if is_terminal)


def test_the_width_is_that_of_the_terminal_on_which_the_text_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    terminal, other_end = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    with os.fdopen(terminal, "wb"), os.fdopen(other_end, "w") as on_terminal, open(os.devnull, "w") as elsewhere:
        assert (terminal_width(on_terminal), terminal_width(elsewhere)) == (60, 100)
        monkeypatch.setenv("COLUMNS", "72")
        assert terminal_width(on_terminal) == terminal_width(elsewhere) == 72
