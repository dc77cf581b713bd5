"""Programs that return what NumPy makes."""

from __future__ import annotations

from .program import honest

_NUMPY = "import numpy as np\n\n\ndef solution(x):\n"

PROGRAMS = [
    honest(
        "record-array",
        """
        import numpy as np
        def solution(x):
            return np.rec.array([(n, n * n) for n in x], names="n,square")
        """,
        "assert solution([2, 3]).square.tolist() == [4, 9]",
        _NUMPY,
    ),
    honest(
        "masked-array",
        """
        import numpy as np
        def solution(x):
            return np.ma.masked_less(x, 0)
        """,
        """
        found = solution([1, -2, 3])
        assert found.sum() == 4
        assert np.ma.getmaskarray(found).tolist() == [False, True, False]
        """,
        _NUMPY,
    ),
    honest(
        "array-of-objects",
        """
        import numpy as np
        def solution(x):
            table = np.empty(2, dtype=object)
            table[0], table[1] = x, "end"
            return table
        """,
        "found = solution([1, 2])\nassert found[0] == [1, 2] and found[1] == 'end'",
        _NUMPY,
    ),
    honest(
        "view-of-the-argument",
        """
        import numpy as np
        def solution(x):
            corner = x[:1, :1]
            corner += 10
            return x.T
        """,
        """
        grid = np.array([[1, 2], [3, 4]])
        assert solution(grid).tolist() == [[11, 3], [2, 4]]
        assert grid[0, 0] == 11
        """,
        _NUMPY,
    ),
    honest(
        "polynomial-that-is-called",
        """
        import numpy as np
        def solution(x):
            return np.poly1d(x)
        """,
        "line = solution([2, 1])\nassert line(3) == 7\nassert solution([1, 0, 0])(4) == 16",
        _NUMPY,
    ),
    honest(
        "subclass-of-array",
        """
        import numpy as np
        class Image(np.ndarray):
            pass
        def solution(x):
            return np.array(x).view(Image)[::-1]
        """,
        "assert solution([1, 2]).tolist() == [2, 1]\nassert np.array_equal(solution([[1], [2]]), [[2], [1]])",
        _NUMPY,
    ),
]
