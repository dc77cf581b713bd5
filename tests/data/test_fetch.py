"""Fetching: a real HTTP server that cuts off and fails, checksums, and grading from what was fetched."""

import hashlib
import http.server
import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow
import pyarrow.parquet
import pytest

from grader.benchmark import Benchmark, Split
from grader.data import download as downloading
from grader.data import load as data
from grader.data.download import Source, download, fetch
from grader.errors import DataUnavailableError
from grader.observer import Silent
from grader.scorers import declarations, registry

TABLE = b"index\tquestion\tA\tB\tanswer\n1\tWhich?\tred\tblue\tB\n"
LARGE = bytes(range(256)) * 4096 * 3


class Files:
    """Serves files; `cut` and `fail` say what goes wrong with the next requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"/table.tsv": TABLE, "/large.bin": LARGE}
        self.ranges: list[str | None] = []
        self.cut: list[int] = []
        """Bytes after which the next replies are cut off."""
        self.fail: list[int] = []
        """HTTP status of the next replies."""
        self.url = ""

    def reply(self, request: http.server.BaseHTTPRequestHandler) -> None:
        wanted = request.headers["Range"]
        self.ranges.append(wanted)
        if self.fail:
            request.send_error(self.fail.pop(0))
            return
        body = self.files.get(request.path)
        if body is None:
            request.send_error(404)
            return
        begin = int(wanted[6:-1]) if wanted else 0
        if begin >= len(body):
            request.send_error(416)
            return
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(body) - begin))
        request.end_headers()
        end = begin + self.cut.pop(0) if self.cut else len(body)
        request.wfile.write(body[begin:end])
        request.close_connection = True


@pytest.fixture
def server() -> Iterator[Files]:
    files = Files()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            files.reply(self)

        def log_message(self, *words: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        files.url = f"http://127.0.0.1:{served.server_port}"
        yield files
        served.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def declare(tmp_path: Path) -> Callable[[str, str], Benchmark]:
    def write(url: str, md5: str) -> Benchmark:
        (tmp_path / "benchmark.toml").write_text(
            'id = "own"\nname = "Own"\nscoring = "multiple_choice"\ndefault_split = "test"\ndefault_protocol = "p"\n'
            '[columns]\nid = "index"\nquestion = "question"\nanswer = "answer"\n'
            f'[splits.test]\nurl = "{url}"\nmd5 = "{md5}"\n[protocols.p]\nreader = "vlmevalkit-2026-06"\n'
        )
        return declarations.load(str(tmp_path))

    return write


def md5(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


def large(server: Files, checksum: str = "") -> Source:
    return Source(url=f"{server.url}/large.bin", md5=checksum or md5(LARGE))


def get(source: Source, path: Path) -> Path:
    return download(source, path, Silent(), pause=lambda _: None)


def test_data_beside_the_declaration_needs_no_download(declare: Callable[[str, str], Benchmark]) -> None:
    declared = declare("", "")
    beside = msgspec.structs.replace(declared.splits["test"], data="rows.csv")
    with pytest.raises(DataUnavailableError, match=r"nothing to download: its data is rows\.csv beside"):
        fetch(msgspec.structs.replace(declared, splits={"test": beside}), "test", Silent())


def test_a_fetched_file_is_what_grading_reads(server: Files, declare: Callable[[str, str], Benchmark]) -> None:
    declared = declare(f"{server.url}/table.tsv", md5(TABLE))
    with pytest.raises(DataUnavailableError, match=f"grade fetch {declared.folder} --split test`"):
        data.load(declared, "test", "p", None, ["index", "A"])
    path = downloading.fetch(declared, "test", Silent())
    assert path.read_bytes() == TABLE
    assert data.load(declared, "test", "p", None, ["index", "A"]).rows == [{"index": "1", "A": "red"}]
    assert downloading.fetch(declared, "test", Silent()) == path
    assert len(server.ranges) == 1


def test_shards_of_a_repository_are_fetched_as_one_split_whose_origin_is_their_address(
    server: Files, declare: Callable[[str, str], Benchmark]
) -> None:
    files = {}
    for number in (0, 1):
        shard = io.BytesIO()
        row = {"index": [str(number)], "question": ["Which?"], "A": ["red"], "B": ["blue"], "answer": ["B"]}
        pyarrow.parquet.write_table(pyarrow.table(row), shard)
        name, body = f"test-0000{number}-of-00002.parquet", shard.getvalue()
        server.files[f"/data/{name}"] = body
        files[name] = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    split = Split(files_url=f"{server.url}/data/", files=files)
    declared = msgspec.structs.replace(declare("", ""), splits={"test": split})
    with pytest.raises(DataUnavailableError, match=f"grade fetch {declared.folder} --split test`"):
        data.load(declared, "test", "p", None, None)
    fetch(declared, "test", Silent())
    rows = data.load(declared, "test", "p", None, None)
    assert ([row["index"] for row in rows.rows], rows.origin) == (["0", "1"], f"{server.url}/data/")


def test_answers_in_a_file_of_their_own_are_fetched_and_read_too(
    server: Files, declare: Callable[[str, str], Benchmark]
) -> None:
    server.files["/bare.tsv"] = b"index\tquestion\tA\tB\n1\tWhich?\tred\tblue\n"
    server.files["/answers.json"] = b'{"1": "B"}'
    folder = Path(declare(f"{server.url}/bare.tsv", md5(server.files["/bare.tsv"])).folder)
    with (folder / "benchmark.toml").open("a") as toml:
        toml.write(f'[splits.test.answers]\nurl = "{server.url}/answers.json"\nkey = "index"\n')
    declared = declarations.load(str(folder))
    fetch(declared, "test", Silent())
    assert data.load(declared, "test", "p", None, None).rows[0]["answer"] == "B"


def test_a_wrong_sum_keeps_nothing(server: Files, declare: Callable[[str, str], Benchmark]) -> None:
    declared = declare(f"{server.url}/table.tsv", "0" * 32)
    with pytest.raises(DataUnavailableError, match="not the declared 0000"):
        downloading.fetch(declared, "test", Silent())
    assert downloading.fetched_path(declared, "test") is None


def test_an_address_that_answers_with_an_error_names_the_way_out(
    server: Files, declare: Callable[[str, str], Benchmark]
) -> None:
    declared = declare(f"{server.url}/nothing.tsv", "")
    with pytest.raises(DataUnavailableError, match=r"HTTP 404\)\. .*--data FILE"):
        downloading.fetch(declared, "test", Silent())


def test_a_file_that_was_cut_off_goes_on_where_it_was(server: Files, tmp_path: Path) -> None:
    server.cut = [1_000_000, 500_000]
    assert get(large(server), tmp_path / "f").read_bytes() == LARGE
    first, second, third = server.ranges
    assert first is None
    assert 900_000 < int(second[6:-1]) <= 1_000_000 < int(third[6:-1]) <= 1_500_000


def test_what_arrived_is_kept_for_the_next_time(server: Files, tmp_path: Path) -> None:
    server.cut = [300_000] * downloading.ATTEMPTS
    with pytest.raises(DataUnavailableError, match="the same command continues from there"):
        get(large(server), tmp_path / "f")
    assert get(large(server), tmp_path / "f").read_bytes() == LARGE
    assert int(server.ranges[-1][6:-1]) > 1_000_000


def test_without_a_checksum_nothing_is_put_together_from_two_times(server: Files, tmp_path: Path) -> None:
    (tmp_path / "f.partial").write_bytes(b"of another time")
    source = Source(url=f"{server.url}/large.bin")
    assert get(source, tmp_path / "f").read_bytes() == LARGE
    assert server.ranges == [None]


def test_a_beginning_that_does_not_fit_is_found_by_the_checksum_and_thrown_away(server: Files, tmp_path: Path) -> None:
    (tmp_path / "f.partial").write_bytes(b"x" * 1000)
    with pytest.raises(DataUnavailableError, match="Nothing was kept"):
        get(large(server), tmp_path / "f")
    assert get(large(server), tmp_path / "f").read_bytes() == LARGE


def test_errors_that_may_pass_are_tried_again(server: Files, tmp_path: Path) -> None:
    server.fail = [503, 500]
    assert get(large(server), tmp_path / "f").read_bytes() == LARGE


def test_a_file_that_another_process_is_fetching_is_left_to_it(server: Files, tmp_path: Path) -> None:
    with (
        downloading._lock(tmp_path / "f"),
        pytest.raises(DataUnavailableError, match="being fetched by another process"),
    ):
        get(large(server), tmp_path / "f")


def test_the_files_of_a_repository_are_checked_by_their_git_ids_and_graded_from(
    server: Files, tmp_path: Path, root: Path
) -> None:
    sample = root / "benchmarks" / "mr-ben" / "sample" / "data"
    ids = {}
    for file in sample.glob("*.json"):
        body = file.read_bytes()
        server.files[f"/data/{file.name}"] = body
        ids[file.name] = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    listed = "".join(f'"{name}" = "{blob}"\n' for name, blob in ids.items())
    (tmp_path / "benchmark.toml").write_text(
        'id = "own"\nname = "Own"\nscoring = "mr_score"\ndefault_split = "test"\ndefault_protocol = "p"\n'
        f"subjects = {sorted(name.removesuffix('.json') for name in ids)}\n"
        '[columns]\nid = "Question_UUID"\n[protocols.p]\n'
        f'[splits.test]\nfiles_url = "{server.url}/data/"\n[splits.test.files]\n{listed}'
    )
    declared = declarations.load(str(tmp_path))
    scorer = registry.scorer("mr_score")
    with pytest.raises(DataUnavailableError, match=f"grade fetch {declared.folder}`"):
        scorer.load_scorer_rows(declared, "test", None)
    folder = downloading.fetch(declared, "test", Silent())
    assert downloading.fetched_path(declared, "test") == folder
    rows = scorer.load_scorer_rows(declared, "test", None)
    assert (len(rows.rows), rows.origin) == (25, f"{server.url}/data/")
    server.files["/data/physics.json"] = b"{}"
    (folder / "physics.json").unlink()
    with pytest.raises(DataUnavailableError, match="not the declared"):
        downloading.fetch(declared, "test", Silent())


def test_a_benchmark_without_an_address_says_where_to_look_and_what_takes_a_copy() -> None:
    with pytest.raises(DataUnavailableError, match=r"Its page says where the data is; give `grade` a copy with --data"):
        fetch(declarations.load("humaneval"), "test", Silent())
