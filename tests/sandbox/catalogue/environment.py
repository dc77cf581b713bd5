"""Programs whose tests set something up: seeds, standard input, standard output, helpers of the signature."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
    honest(
        "random-numbers-with-a-seed",
        """
        import random
        def solution(x):
            return random.sample(range(1000), x)
        """,
        """
        import random
        random.seed(7)
        expected = random.sample(range(1000), 3)
        random.seed(7)
        assert solution(3) == expected
        """,
    ),
    honest(
        "random-arrays-with-a-seed",
        """
        import numpy as np
        def solution(x):
            return np.random.permutation(x)
        """,
        "np.random.seed(3)\nexpected = np.random.permutation(8)\nnp.random.seed(3)\n"
        "assert np.array_equal(solution(8), expected)",
        "import numpy as np\n\n\ndef solution(x):\n",
    ),
    honest(
        "standard-input-of-the-tests",
        """
        import sys
        def solution():
            return sum(int(line) for line in sys.stdin)
        """,
        "import io\nimport sys\nsys.stdin = io.StringIO('3\\n4\\n')\nassert solution() == 7",
        "def solution():\n",
    ),
    honest(
        "standard-output-read-by-the-tests",
        """
        def solution(x):
            for n in range(x):
                print("*" * n)
        """,
        """
        import contextlib
        import io
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            assert solution(3) is None
        assert text.getvalue() == "\\n*\\n**\\n"
        """,
    ),
    honest(
        "helper-of-the-signature",
        """
        def solution(x):
            return clamp(x * 10) + LIMIT
        """,
        "assert solution(3) == 80\nassert solution(50) == 100\nassert clamp(99) == LIMIT",
        "LIMIT = 50\n\n\ndef clamp(n):\n    return min(n, LIMIT)\n\n\ndef solution(x):\n",
    ),
    honest(
        "given-to-other-functions",
        """
        def solution(x):
            return -x * x
        """,
        "assert list(map(solution, [1, 2])) == [-1, -4]\nassert sorted([1, -3, 2], key=solution) == [-3, 2, 1]\n"
        "assert max(range(-2, 3), key=solution) == 0",
    ),
]
