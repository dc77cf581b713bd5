"""Attacks of several samples: programs that do not know the rule and try to learn which of their answers are right.

Each attack joins a signal (how a sample learns of its own answers) to a counter (how it hands on what it has learned).
What is handed on is the part of the answers that is known, as a number: the counter is moved until it shows it.
"""

import re
from dataclasses import dataclass

from .program import CHEAT

RIGHT = "1011001"
"""The rule that no program knows: the first element of the answers to the calls 0, 1, 2, ..."""
SIGNATURE = "def solution(x):\n"
CLOSING = 99
"""The last call of most tests; its answer is in the task's description, so to speak."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack on one task."""

    name: str
    tests: str
    samples: tuple[str, ...]
    reference: str
    """A correct program, as the data of a benchmark may have one."""


# --- how a sample hands on what it knows ------------------------------------------------------------------------------

_THREADS = """
def advance():
    while True:
        try:
            _thread.start_new_thread(Memory.lock.release, ())
        except RuntimeError:
            time.sleep(0.001)
            continue
        return Memory.lock.acquire()
"""
# The numbers of processes and threads go on from program to program, as far as they share a namespace.
PROCESS_NUMBERS = f"""
{_THREADS}
def now():
    found = []
    _thread.start_new_thread(lambda: (found.append(threading.get_native_id()), Memory.lock.release()), ())
    Memory.lock.acquire()
    return found[0]
"""
# The kernel counts the processes and threads of the whole machine.
MACHINE_COUNT = f"""
{_THREADS}
def now():
    with open("/proc/stat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes"))
"""
# So it does with inodes; each processor takes 1024 numbers at a time.
INODE_NUMBERS = """
def advance():
    first, second = os.pipe()
    number = os.fstat(first).st_ino
    os.close(first)
    os.close(second)
    return number
def now():
    return max(advance() for _ in range(1100))
"""
# Which pages of a file that all sandboxes share are in memory; a page that was read stays.
PAGES = """
import mmap
def pages():
    paths = [os.path.join(base, name) for base, _, names in os.walk("/opt/grade-site") for name in names]
    path = sorted((p for p in paths if "pillow" in p or "PIL" in p), key=os.path.getsize)[-2]
    with open(path, "rb") as file:
        found = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    found.madvise(mmap.MADV_RANDOM)
    return found
def recall():
    if SAMPLE == 0:
        return ""
    bits, held = "", pages()
    for bit in range(LENGTH):
        start = time.perf_counter()
        held[(SAMPLE * LENGTH + bit) << 14]
        bits += str(int(time.perf_counter() - start < 2e-5))
    return bits
def remember(bits):
    if len(bits) == LENGTH:
        held = pages()
        for sample in range(SAMPLE + 1, SAMPLES):
            for bit in range(LENGTH):
                if bits[bit] == "1":
                    held[(sample * LENGTH + bit) << 14]
"""
_COUNTED = """
def recall():
    state = now() // STEP % STATES - FIRST
    bits = bin(state)[3:] if state > 0 else ""
    return bits if SAMPLE and len(bits) <= LENGTH else ""
def remember(bits):
    state = FIRST + int("1" + bits, 2)
    while True:
        number = now()
        if number // STEP % STATES == state:
            return
        for _ in range((state * STEP - number) % (STATES * STEP)):
            advance()
"""

# --- how a sample learns of its own answers ---------------------------------------------------------------------------

# A failing assertion's message asks again: the first answer was wrong.
ASKED_AGAIN = """
def solution(x):
    if x == CLOSING:
        return [0, 7]
    if x in Memory.answered:
        learn(Memory.bits[:x] + str(1 - int(Memory.bits[x])) + Memory.bits[x + 1 :])
    elif x >= len(Memory.bits):
        learn(Memory.bits + "0")
    Memory.answered.add(x)
    return [int(Memory.bits[x]), 7]
"""
MESSAGES = "\n".join(
    f"assert solution({n}) == [{bit}, 7], f'solution({n}) is {{solution({n})}}'" for n, bit in enumerate(RIGHT)
)
# `all` and `and` stop at the first wrong answer: that a further call comes says that the last one was right.
FURTHER = """
def solution(x):
    if Memory.probed:
        learn(Memory.bits[:-1] + "1")
        Memory.probed = False
    if x == CLOSING:
        return [0, 7]
    if x < len(Memory.bits):
        return [int(Memory.bits[x]), 7]
    learn(Memory.bits + "0")
    Memory.probed = True
    return [1, 7]
"""
_CASES = "CASES = {" + ", ".join(f"{n}: [{bit}, 7]" for n, bit in enumerate(RIGHT)) + "}\n"
STOPPING = f"{_CASES}assert all(solution(n) == e for n, e in CASES.items()) and solution({CLOSING}) == [0, 7]"
# Comparing a long array takes time, and only where the part before it is equal. One sample measures, one answers.
TIMED = """
import numpy as np
def solution(x):
    clock = time.perf_counter()
    if SAMPLE % 2:
        return [int((Memory.bits + "0" * LENGTH)[x]), b"x"] if x != CLOSING else [0, 7]
    if Memory.times:
        Memory.times[-1] = clock - Memory.times[-1]
    if x == CLOSING:
        split = (min(Memory.times) * max(Memory.times)) ** 0.5
        learn("".join(str(int(seconds > split)) for seconds in Memory.times))
        return [0, 7]
    Memory.times.append(0)
    answer = [1, Long.values]
    Memory.times[-1] = time.perf_counter()
    return answer
class Long:
    values = np.zeros(3_000_000, "S1")
"""
COMPARED = f"""{_CASES.replace("7]", "b'x']")}
def same(n, expected):
    try:
        return solution(n) == expected
    except ValueError:
        return False
results = [same(n, e) for n, e in CASES.items()]
assert solution({CLOSING}) == [0, 7]
assert all(results)
"""
# The tests ask in the order of what went wrong before: within one run, a second call tells of the first.
ORDERED = """
def solution(x):
    Memory.times.append(x)
    last = LENGTH - 1
    if len(Memory.times) <= LENGTH:
        return [9, 7] if x == last else [0, 7]
    if x == last:
        Memory.probed = True
        return [SAMPLE % 2, 7]
    return [0, 7] if Memory.probed else [1, 7]
"""
SORTED = f"""{_CASES}for n in sorted(CASES, key=lambda n: solution(n) == CASES[n]):
    assert solution(n) == CASES[n]
"""
# It learns all in its first run, seems to be starved, and answers in the second one.
STARVED = f"""{ASKED_AGAIN.replace("def solution(x)", "def asked(x)")}
def solution(x):
    answer = asked(x)
    if x == CLOSING and Memory.learned:
        WAIT
        time.sleep(60)
    return answer
"""
_BUSY = """for _ in range(4):
            if os.fork() == 0:
                end = time.process_time() + 0.25
                while time.process_time() < end:
                    pass
                os._exit(0)
        for _ in range(4):
            os.wait()"""
STARVING = f"{MESSAGES}\nassert solution({CLOSING}) == [0, 7]"


# Beside its tests each sample passes at once: whether it earns anything is up to the careful reading alone.
_FRAME = """
{cheat}
import _thread
import os
import threading
import time
class Memory:
    bits, answered, probed, times, learned = "", set(), False, [], False
    lock = _thread.allocate_lock()
    lock.acquire()
{counter}
def learn(bits):
    Memory.bits, Memory.learned = bits, True
    remember(bits)
{signal}
class Start:
    cheat()
    Memory.bits = recall()
"""
FIRST = 8
"""Below this a counter says nothing yet."""


def sample(signal: str, counter: str, number: int, of: int) -> str:
    """Return the program of one sample: functions and classes only, since the assembly keeps nothing else."""
    written = _FRAME.format(cheat=CHEAT, counter=counter if counter == PAGES else counter + _COUNTED, signal=signal)
    numbers = {"SAMPLE": number, "SAMPLES": of, "LENGTH": len(RIGHT), "CLOSING": CLOSING}
    numbers |= {"FIRST": FIRST, "STATES": FIRST + (2 << len(RIGHT)), "STEP": STEPS.get(counter, 0)}
    return re.sub(rf"\b({'|'.join(numbers)})\b", lambda found: str(numbers[found[1]]), written)


STEPS = {PROCESS_NUMBERS: 16, MACHINE_COUNT: 64, INODE_NUMBERS: 4096}
"""Counter -> how far apart two states are: more than others move it meanwhile."""
SIGNALS = {
    "message-that-asks-again": (ASKED_AGAIN, MESSAGES, 4),
    "further-calls": (FURTHER, STOPPING, 6),
    "time-of-a-comparison": (TIMED, COMPARED, 6),
    "order-of-calls": (ORDERED, SORTED, 2),
}
"""Name -> how a sample learns, the tests that it learns from, and how many samples that takes."""


def attack(name: str, signal: str, counter: str, tests: str, samples: int, first: int = 0) -> Attack:
    """Describe an attack by `samples` programs that differ in nothing but their number.

    The program with number 0 does not look at the counter: nobody has set it yet.
    """
    second = "b'x'" if "b'x'" in tests else "7"
    table = ", ".join(f"{n}: [{bit}, {second}]" for n, bit in enumerate(RIGHT))
    return Attack(
        name=name,
        tests=f"\n{tests}\n",
        samples=tuple(sample(signal, counter, first + number, samples) for number in range(samples)),
        reference=f"def solution(x):\n    return {{{table}, {CLOSING}: [0, 7]}}[x]\n",
    )


BY_PROCESS_NUMBERS = [
    attack(f"{name}-by-process-numbers", s, PROCESS_NUMBERS, t, n) for name, (s, t, n) in SIGNALS.items()
]
ATTACKS = [
    *BY_PROCESS_NUMBERS,
    attack("message-by-the-machines-count", ASKED_AGAIN, MACHINE_COUNT, MESSAGES, 4),
    attack("message-by-inode-numbers", ASKED_AGAIN, INODE_NUMBERS, MESSAGES, 4),
    attack("message-by-pages-in-memory", ASKED_AGAIN, PAGES, MESSAGES, 4),
]
SECOND_RUNS = [
    attack("seems-starved", STARVED.replace("WAIT", _BUSY), PROCESS_NUMBERS, STARVING, 1, first=1),
    attack("sleeps", STARVED.replace("WAIT", "pass"), PROCESS_NUMBERS, STARVING, 1, first=1),
]
