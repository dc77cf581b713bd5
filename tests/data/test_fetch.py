"""Fetching: a real HTTP server, a checksum, and grading from what was fetched."""

from __future__ import annotations

import hashlib
import http.server
import threading

import pytest

from grader.benchmark import Benchmark
from grader.data import fetch
from grader.data import load as data
from grader.errors import DataUnavailableError
from grader.observer import Silent
from grader.scorers import declarations

TABLE = b"index\tquestion\tA\tB\tanswer\n1\tWhich?\tred\tblue\tB\n"


@pytest.fixture
def address():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/table.tsv":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(TABLE)))
            self.end_headers()
            self.wfile.write(TABLE)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def declare(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def write(url: str, md5: str) -> Benchmark:
        (tmp_path / "benchmark.toml").write_text(
            'id = "own"\nname = "Own"\nscoring = "multiple_choice"\ndefault_split = "test"\ndefault_protocol = "p"\n'
            '[columns]\nid = "index"\nquestion = "question"\nanswer = "answer"\n'
            f'[splits.test]\nurl = "{url}"\nmd5 = "{md5}"\n[protocols.p]\nreader = "vlmevalkit-2026-06"\n'
        )
        return declarations.load(str(tmp_path))

    return write


def test_a_fetched_file_is_what_grading_reads(address, declare):
    declared = declare(f"{address}/table.tsv", hashlib.md5(TABLE).hexdigest())
    with pytest.raises(DataUnavailableError, match="grade fetch own --split test"):
        data.load(declared, "test", "p", None, ["index", "A"])
    path = fetch.fetch(declared, "test", Silent())
    assert path.read_bytes() == TABLE
    assert data.load(declared, "test", "p", None, ["index", "A"]).rows == [{"index": "1", "A": "red"}]


def test_a_wrong_sum_keeps_nothing(address, declare):
    declared = declare(f"{address}/table.tsv", "0" * 32)
    with pytest.raises(DataUnavailableError, match="not the declared 0000"):
        fetch.fetch(declared, "test", Silent())
    assert fetch.kept(declared, "test") is None


def test_an_address_that_answers_with_an_error_names_the_way_out(address, declare):
    declared = declare(f"{address}/nothing.tsv", "")
    with pytest.raises(DataUnavailableError, match="--data FILE"):
        fetch.fetch(declared, "test", Silent())
