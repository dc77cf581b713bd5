"""A hub that does not answer is noticed in seconds, and what its cache holds is used all the same."""

import http.server
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from grader.data import hub
from grader.data import load as data
from grader.errors import DataUnavailableError
from grader.scorers import declarations

HUMANEVAL_V = declarations.load("humaneval-v")


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A hub that accepts connections and never says a word."""
    monkeypatch.setattr(hub, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield address


def test_any_answer_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
        assert hub.HubRequest().is_answered()
        server.shutdown()


def test_without_an_answer_nothing_is_asked_of_the_hub_and_the_error_says_what_to_do(deaf: str) -> None:
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", None, ["qid"])
    assert str(caught.value) == (
        "The data of HumanEval-V/HumanEval-V-Benchmark could not be loaded: "
        f"the hub ({deaf}) did not answer within 0 s, and its cache does not have them.\n"
        "Without a network, give a local copy with --data FILE: .jsonl, .parquet, or a folder written by `datasets`. "
        "HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror of the hub."
    )


def test_without_an_answer_the_clients_cache_is_used(deaf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets
    from huggingface_hub import constants

    modes: list[bool] = []

    def lend(*_: object, **__: object) -> Any:
        modes.append(constants.is_offline_mode() and datasets.config.HF_HUB_OFFLINE)
        return datasets.Dataset.from_list([{"qid": f"q{n}"} for n in range(253)])

    monkeypatch.setattr(datasets, "load_dataset", lend)
    assert len(data.load(HUMANEVAL_V, "test", "v2", None, ["qid"]).rows) == 253
    assert modes == [True]
    assert not constants.is_offline_mode()
    assert not datasets.config.HF_HUB_OFFLINE
