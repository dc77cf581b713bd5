"""Programs that return subclasses of built-in types, and the containers of the standard library."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
    honest(
        "subclass-of-dict-with-missing",
        """
        class Tally(dict):
            def __missing__(self, key):
                return 0
        def solution(x):
            tally = Tally()
            for letter in x:
                tally[letter] += 1
            return tally
        """,
        "assert solution('abca') == {'a': 2, 'b': 1, 'c': 1}\nassert solution('zz')['z'] == 2",
    ),
    honest(
        "user-list",
        """
        from collections import UserList
        class Stack(UserList):
            def push(self, item):
                self.data.append(item)
        def solution(x):
            stack = Stack()
            for item in x:
                stack.push(item)
            return stack
        """,
        "assert solution([1, 2]) == [1, 2]\nassert list(solution('ab')) == ['a', 'b']\nassert solution([7])[0] == 7",
    ),
    honest(
        "user-dict",
        """
        import collections
        class Folded(collections.UserDict):
            def __setitem__(self, key, value):
                super().__setitem__(key.lower(), value)
        def solution(x):
            return Folded(x)
        """,
        "assert solution({'A': 1}) == {'a': 1}\nassert solution({'B': 2})['b'] == 2",
    ),
    honest(
        "user-string",
        """
        from collections import UserString
        def solution(x):
            return UserString(x).center(7, "*")
        """,
        "assert solution('abc') == '**abc**'\nassert len(solution('x')) == 7",
    ),
    honest(
        "default-dictionaries-in-each-other",
        """
        from collections import defaultdict
        def solution(x):
            table = defaultdict(lambda: defaultdict(int))
            for left, right in x:
                table[left][right] += 1
            return table
        """,
        "assert solution([('a', 'b'), ('a', 'c')]) == {'a': {'b': 1, 'c': 1}}\nassert solution([])['z']['y'] == 0",
    ),
    honest(
        "deque-with-a-bound",
        """
        from collections import deque
        def solution(x):
            return deque(x, maxlen=3)
        """,
        "last = solution(range(6))\nassert list(last) == [3, 4, 5]\nlast.append(9)\nassert list(last) == [4, 5, 9]",
    ),
    honest(
        "chain-map",
        """
        from collections import ChainMap
        def solution(x):
            return ChainMap({"colour": "red"}, x)
        """,
        """
        assert solution({'size': 3}) == {'colour': 'red', 'size': 3}
        assert solution({'colour': 'b'})['colour'] == 'red'
        """,
    ),
    honest(
        "array-of-the-standard-library",
        """
        from array import array
        def solution(x):
            marks = array("i", [0]) * x
            for n in range(0, x, 2):
                marks[n] = 1
            return marks
        """,
        "assert list(solution(3)) == [1, 0, 1]\nassert solution(4)[2] == 1 and len(solution(5)) == 5",
    ),
    honest(
        "memory-view",
        """
        def solution(x):
            return memoryview(x)[::2]
        """,
        "assert solution(b'abcd') == b'ac'\nassert bytes(solution(b'xyz')) == b'xz'",
    ),
    honest(
        "byte-array-that-the-tests-change",
        """
        def solution(x):
            return bytearray(x.encode())
        """,
        "data = solution('hey')\ndata += b'!'\nassert data == b'hey!'",
    ),
    honest(
        "views-of-a-dictionary",
        """
        def solution(x):
            return {word: len(word) for word in x}.items()
        """,
        "assert sorted(solution(['bb', 'a'])) == [('a', 1), ('bb', 2)]\nassert ('a', 1) in solution(['a'])",
    ),
    honest(
        "mapping-proxy",
        """
        from types import MappingProxyType
        def solution(x):
            return MappingProxyType({"double": x * 2})
        """,
        "assert solution(4) == {'double': 8}\nassert solution(1)['double'] == 2",
    ),
]
