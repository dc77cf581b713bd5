"""Mutants differ from their program by one change each, and are the same at every call."""

from grader.scorers.execution.mutations import mutants

SOURCE = '''def solution(numbers, low=0):
    """Sum what is above a bound."""
    total = 0
    for number in numbers:
        if number > low and number != 7:
            total += number * 2
    return -total if total < 100 else total
'''


def test_every_kind_of_change_is_made_once_a_place() -> None:
    titles = [mutant.title for mutant in mutants(SOURCE, 100)]
    assert titles == sorted(titles, key=lambda title: int(title.split()[1].rstrip(":")))
    assert 'line 3: 0 becomes 1 in "total = 0"' in titles
    assert {title.partition(" in ")[0] for title in titles} == {
        "line 1: 0 becomes 1",
        "line 3: 0 becomes 1",
        "line 5: and becomes or",
        "line 5: condition inverted",
        "line 5: > becomes >=",
        "line 5: != becomes ==",
        "line 5: 7 becomes 8",
        "line 6: + becomes -",
        "line 6: * becomes +",
        "line 6: 2 becomes 3",
        "line 7: - is left out",
        "line 7: condition inverted",
        "line 7: < becomes <=",
        "line 7: 100 becomes 101",
    }


def test_the_same_mutants_are_made_at_every_call_and_no_more_than_asked() -> None:
    first = mutants(SOURCE, 5)
    assert first == mutants(SOURCE, 5)
    assert len(first) == 5
    assert first[0].title.startswith("line 1")
    assert first[-1].title.startswith("line 7")
