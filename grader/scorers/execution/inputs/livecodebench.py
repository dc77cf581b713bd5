"""Programs as LiveCodeBench runs them (`testing_util.py` at 28fef95), and as a careful person would.

Of a program that reads standard input, the harness (`grade_stdio`) makes a function, leaves only imports outside of it,
and calls it with a substitute for `sys.stdin`. So `global`, `open(0)`, `for line in sys.stdin`, a second
`sys.stdin.buffer.readline()`, `sys.stdout.buffer`, and threads that end after the function do not work there as in a
script.
"""

from __future__ import annotations

import ast

from grader.files.python_source import tree_from
from grader.scorers.execution.extraction import parse_or_none

_HEAD = """
__name__ = "tmp_sol"
del __file__
def _guard():
    import builtins, os, sys
    builtins.quit = builtins.help = None
    for name in (
        "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
        "unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
    ).split():
        setattr(os, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None
_guard()
"""
_TAIL = """
def _as_livecodebench(function):
    import builtins, io, os, sys
    text = sys.stdin.read()
    lines = iter(text.split("\\n"))
    class Buffer:
        def read(self, *args):
            return text.encode(errors="surrogateescape")
        def readline(self, *args):
            return self.read().split(b"\\n")[0] + b"\\n"
    class Stdin:
        def __init__(self):
            self._stringio, self.buffer = io.StringIO(text), Buffer()
        def read(self, *args):
            return text
        def readline(self, *args):
            return self._stringio.readline(*args)
        def readlines(self, *args):
            return text.split("\\n")
        def __getattr__(self, name):
            return getattr(self._stringio, name)
    # This is what a program has as `stdin`, by `from sys import *`.
    sys.stdin.read, sys.stdin.readlines = (lambda *args: text), (lambda *args: text.split("\\n"))
    sys.stdin.readline = lambda *args: next(lines)
    sys.stdin, sys.stdout = Stdin(), io.StringIO()
    printed, write, leave, output = sys.stdout, os.write, os._exit, os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    builtins.open = lambda *args, **kwargs: io.StringIO(text)
    for module, name in (("subprocess", "Popen"), ("shutil", "rmtree"), ("shutil", "move"), ("shutil", "chown")):
        if module in sys.modules:
            setattr(sys.modules[module], name, None)
    try:
        function()
    except SystemExit:
        pass
    data = memoryview(printed.getvalue().encode(errors="replace"))
    while data:
        data = data[write(output, data) :]
    leave(0)
_as_livecodebench(wrapped_function)
"""
_MAIN = "__name__ == '__main__'"


def script_as_function(source: str, prelude: str) -> str:
    """Return a script that runs a program as LiveCodeBench's harness does.

    Invalid Python is returned unchanged, and fails. What Python cannot write anew becomes a script that fails, too.
    """
    tree = parse_or_none(source)
    if tree is None:
        return source
    try:
        body = tree.body
        if body and isinstance(body[-1], ast.If) and ast.unparse(body[-1].test) == _MAIN:
            body = [*body[:-1], *body[-1].body]
        imports: list[ast.stmt] = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        (function,) = tree_from("def wrapped_function(): pass").body
        assert isinstance(function, ast.FunctionDef)
        function.body = [node for node in body if node not in imports]
        parts = [ast.unparse(ast.Module(imports, type_ignores=[])), ast.unparse(function)]
    except (RecursionError, ValueError) as error:
        return f"raise RuntimeError({str(error)!r})"
    # The harness looks this class up at the top level, where only imports are, so the lookup raises a NameError.
    class_lookup = "Solution()" if "class Solution" in parts[1] else ""
    return "\n".join([_HEAD, prelude, *parts, class_lookup, _TAIL])


def with_method_as_function(source: str, prelude: str, function: str, *, is_official: bool = False) -> str:
    """Return a program with the imports of the harness, and with the wanted method as a function.

    The harness (`grade_call_based`) looks for the words `class Solution`, uses one object for all inputs, and puts its
    imports first, so that a program with an import from `__future__` is invalid. A careful person puts them behind such
    imports, and makes a new object for each input if the objects have a state.
    """
    tree = None if is_official else parse_or_none(source)
    lines = source.split("\n")
    if tree is None:
        prelude_line, is_method, has_state = 0, "class Solution" in source, False
    else:
        prelude_line = max((node.end_lineno or 0 for node in tree.body if _is_future(node)), default=0)
        is_method, has_state = _solution_class_traits(tree, function)
    if prelude:
        lines.insert(prelude_line, prelude)
    if function and is_method:
        with_new_object = f"lambda *args, **kwargs: Solution().{function}(*args, **kwargs)"
        lines.append(f"\n{function} = {with_new_object if has_state else f'Solution().{function}'}\n")
    return "\n".join(lines)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _solution_class_traits(tree: ast.Module, function: str) -> tuple[bool, bool]:
    """Return whether the function is a method of `class Solution`, and whether the objects of this class have a state.

    A function that nothing defines may be a method that the class inherits.
    """
    defined = {getattr(node, "name", "") for node in tree.body}
    for node in reversed(tree.body):
        if isinstance(node, ast.ClassDef) and node.name == "Solution":
            is_method = function not in defined or any(getattr(part, "name", "") == function for part in node.body)
            stores = (part for part in ast.walk(node) if isinstance(getattr(part, "ctx", None), ast.Store))
            return is_method, any(isinstance(part, ast.Attribute) for part in stores)
    return False, False
