"""Numbers with their nouns or signs, and untrusted text, for messages and reports."""


def clean(text: str) -> str:
    """Make untrusted text harmless on a terminal: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def all_of(number: int, noun: str) -> str:
    """Return `the only record`, `all 2 records`."""
    return f"the only {noun}" if number == 1 else f"all {number:,} {noun}s"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 record`, `2 records`; `plural` is that of a noun without a simple one."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def decimal(number: float, decimals: int = 1) -> str:
    """Return a number as text, with a real minus; a zero has no sign."""
    text = f"{number:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def signed(number: float, decimals: int = 1) -> str:
    """Return a change as text, with its sign."""
    text = decimal(number, decimals)
    return text if number < 0 or float(text) == 0 else f"+{text}"
