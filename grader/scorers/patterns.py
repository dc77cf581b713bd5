"""Regular expressions that are compiled at first use: start-up needs none of them, and most replies need few."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any


class _Pattern:
    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(self._compiled, name)
        return found


if TYPE_CHECKING:
    Pattern = re.compile
else:
    Pattern = _Pattern
