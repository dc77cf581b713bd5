"""What the client of `grade infer` costs beside the openai SDK alone: CPU time a request, many at a time.

    python tests/bench/client_cost.py [--requests 5000] [--in-flight 64] [--image-bytes 20000]

A local server in a process of its own answers at once. Each way is measured in a fresh process: the SDK's own
`create` from threads, and the whole engine (plan, requests, replies, log on disk). Both send the same messages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x" * 500}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13},
    }
).encode()
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(REPLY), REPLY)


def serve(port: multiprocessing.Queue[int]) -> None:
    """Answer every request at once, over connections that stay open."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(RESPONSE)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 24)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def sdk(url: str, requests: int, in_flight: int, image: bytes) -> None:
    """Ask with the SDK alone."""
    import base64

    import openai

    client = openai.OpenAI(api_key="no-key", base_url=url, max_retries=0)

    def ask(number: int) -> None:
        data = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        content = [{"type": "image_url", "image_url": {"url": data}}, {"type": "text", "text": f"question {number}"}]
        made = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": content}], temperature=0.8, max_tokens=16, seed=number
        )
        assert made.choices[0].message.content

    with ThreadPoolExecutor(in_flight) as pool:
        for _ in pool.map(ask, range(requests)):
            pass


def ours(url: str, requests: int, in_flight: int, image: bytes) -> None:
    """Ask with the engine, every reply on disk before the next request."""
    from grader.inference.engine import Engine
    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan, Step
    from grader.models.client import Client
    from grader.models.endpoint import Server, Settings, Wording
    from grader.models.messages import Image, user

    def conversation(number: int) -> Conversation:
        settings = Settings(temperature=0.8, max_tokens=16, seed=number)
        step = Step(stage="answer", build=lambda _: (user(Image(data=image), f"question {number}"),), settings=settings)
        return Conversation(qid=f"q{number}", sample=0, steps=(step,))

    plan = Plan(conversations=tuple(map(conversation, range(requests))), models={"model": "m"})
    wording = Wording(who="The model", model_option="--model", address_option="--base-url")
    with (
        tempfile.TemporaryDirectory() as folder,
        Log(Path(folder) / "out_requests.jsonl") as log,
        Client(Server(model="m", base_url=url), wording, concurrency=in_flight) as client,
    ):
        assert Engine(plan, log, {"model": client}).run(plan.conversations, concurrency=in_flight) == ""
        assert len(log.replies) == requests


def measure(way: str, url: str, requests: int, in_flight: int, image: bytes) -> tuple[float, float]:
    """Return the CPU and wall seconds of a way in a fresh process, without what its imports cost."""
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[tuple[float, float]] = context.Queue()
    process = context.Process(target=_measured, args=(queue, way, url, requests, in_flight, image))
    process.start()
    found = queue.get()
    process.join()
    return found


def _measured(
    queue: multiprocessing.Queue[tuple[float, float]], way: str, url: str, requests: int, in_flight: int, image: bytes
) -> None:
    run = {"sdk": sdk, "ours": ours}[way]
    run(url, in_flight, in_flight, image)
    cpu, wall = time.process_time(), time.monotonic()
    run(url, requests, in_flight, image)
    queue.put((time.process_time() - cpu, time.monotonic() - wall))


def main() -> None:
    """Measure both ways in turn and print what they cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--image-bytes", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    image = b"\x89PNG\r\n\x1a\n" + os.urandom(max(0, given.image_bytes - 8))
    context = multiprocessing.get_context("spawn")
    port: multiprocessing.Queue[int] = context.Queue()
    server = context.Process(target=serve, args=(port,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get()}/v1"
    best: dict[str, float] = {}
    for _ in range(given.rounds):
        for way in ("sdk", "ours"):
            cpu, wall = measure(way, url, given.requests, given.in_flight, image)
            each = 1000 * cpu / given.requests
            best[way] = min(best.get(way, each), each)
            print(f"{way:5} {each:6.2f} ms CPU a request, {given.requests / wall:6.0f} requests a second")
    print(f"beyond the SDK: {best['ours'] - best['sdk']:+.2f} ms CPU a request")
    server.terminate()


if __name__ == "__main__":
    main()
