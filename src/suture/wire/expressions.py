"""Selectors that stand in a field as text: expressions, and what `kubectl -l` takes.

Beside `model.selectors`, which reads the query string of a list. Pure. A disjunction, a negated
group and comparisons of parts of a value are not read: a selector is a conjunction.
Source: Calico documentation, "Selector".
"""

from __future__ import annotations

import re

from suture.model.selectors import Operator, Requirement, Selector, SelectorError, parse_selector

_VALUE = r"""(?:"([^"]*)"|'([^']*)')"""
_TERM = re.compile(
    rf"""(?P<all>all\(\))|(?P<no>!\s*)?has\((?P<has>[^)\s]+)\)"""
    rf"""|(?P<key>[A-Za-z0-9_./-]+)\s*(?P<op>==|!=|not\s+in|in)\s*(?P<values>\{{[^}}]*\}}|{_VALUE})"""
)
_LITERAL = re.compile(_VALUE)
_KEY = re.compile(r"[A-Za-z0-9_./-]+")


def parse_text(text: str) -> Selector:
    """Read a selector that stands in a field as text, in either way to write it.

    Errors: SelectorError for anything else. Empty text is the selector of everything.
    """
    found = parse_expression(text)
    if found is not None:
        return found
    selector = parse_selector(text)
    if not all(_KEY.fullmatch(one.key) for one in selector.requirements):
        raise SelectorError(text, "has a key that no label has")
    return selector


def parse_expression(text: str) -> Selector | None:
    """Return an expression that is a conjunction; None of any other."""
    found: list[Requirement] = []
    for part in text.split("&&") if text.strip() else ():
        term = _TERM.fullmatch(part.strip())
        if term is None:
            return None
        if term["has"]:
            operator = Operator.DOES_NOT_EXIST if term["no"] else Operator.EXISTS
            found.append(Requirement(term["has"], operator, ()))
        elif term["key"]:
            values = tuple(sorted(a or b for a, b in _LITERAL.findall(term["values"])))
            operator = Operator.IN if term["op"] in {"==", "in"} else Operator.NOT_IN
            found.append(Requirement(term["key"], operator, values))
    return Selector(tuple(found))
