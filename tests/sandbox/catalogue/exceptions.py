"""Programs that raise: exceptions of their own, with attributes, by name, with a cause."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
    honest(
        "own-exception-tested-by-name",
        """
        class NegativeError(Exception):
            pass
        def solution(x):
            if x < 0:
                raise NegativeError("below zero")
            return x ** 0.5
        """,
        """
        assert solution(9) == 3
        try:
            solution(-1)
            assert False, "no exception"
        except Exception as error:
            assert type(error).__name__ == "NegativeError"
            assert str(error) == "below zero"
        """,
    ),
    honest(
        "own-exception-of-a-built-in-kind",
        """
        class EmptyInput(ValueError):
            def __init__(self, what):
                super().__init__(f"{what} is empty")
        def solution(x):
            if not x:
                raise EmptyInput("the list")
            return max(x)
        """,
        """
        assert solution([2, 7]) == 7
        try:
            solution([])
        except ValueError as error:
            assert "empty" in str(error)
        else:
            raise AssertionError("no exception")
        """,
    ),
    honest(
        "own-exception-with-attributes",
        """
        class ParseError(Exception):
            def __init__(self, message, position):
                super().__init__(message)
                self.position = position
        def solution(x):
            for position, letter in enumerate(x):
                if letter not in "0123456789":
                    raise ParseError("not a digit", position)
            return int(x)
        """,
        """
        assert solution("42") == 42
        try:
            solution("4x")
        except Exception as error:
            assert getattr(error, "position") == 1
        else:
            assert False
        """,
    ),
    honest(
        "exception-of-the-signature-with-an-attribute-r",
        """
        def solution(x):
            error = Outside("radius")
            error.r = x
            raise error
        """,
        """
        try:
            solution(3)
        except Outside as error:
            assert error.r == 3 and error.args == ("radius",)
        else:
            assert False
        """,
        "class Outside(Exception):\n    pass\n\n\ndef solution(x):\n",
    ),
    honest(
        "exception-with-a-cause",
        """
        def solution(x):
            try:
                return {"a": 1}[x]
            except KeyError as error:
                raise LookupError("unknown name") from error
        """,
        """
        assert solution("a") == 1
        try:
            solution("b")
        except LookupError as error:
            assert isinstance(error.__cause__, KeyError)
        else:
            assert False
        """,
    ),
    honest(
        "key-error-with-its-key",
        """
        def solution(x):
            table = {1: "one"}
            return table[x]
        """,
        """
        assert solution(1) == "one"
        try:
            solution((2, 3))
        except KeyError as error:
            assert error.args[0] == (2, 3)
        else:
            assert False
        """,
    ),
    honest(
        "returned-exception",
        """
        def solution(x):
            results = []
            for text in x:
                try:
                    results.append(int(text))
                except ValueError as error:
                    results.append(error)
            return results
        """,
        "found = solution(['3', 'x'])\nassert found[0] == 3\nassert isinstance(found[1], ValueError)",
    ),
]
