"""References mined from data: fields whose values keep naming objects that exist.

Whole bodies go in one by one, proposals come out; nothing of a body is kept but the texts of its
fields, bounded. Pure. A proposal is a guess with its evidence beside it, for a person to apply.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from suture.model.covered import covered
from suture.model.fieldpath import FieldPath, FieldPathError, path_text
from suture.model.rules import Place, Reference, ReferenceRule, TypeName

NAMES = 1_000_000
"""LIMIT: names of objects kept, 250 bytes each: 250 MB. Past it the kind with the most goes, whose
names are made by a controller and in nobody's spec; which went is told."""

PAIRS = 2_000
"""LIMIT: different values kept of one field, 250 bytes each; more say nothing new."""

FIELDS = 2_000
"""LIMIT: fields of one kind that are looked at; the largest pod templates have 900."""

ALL_FIELDS = 50_000
"""LIMIT: fields of all kinds; with 20 values each, which is what fields have on the average,
250 MB."""

DEPTH = 40
"""LIMIT: steps into a body, which is as deep as a path goes."""

OPAQUE = 20
"""LIMIT: values seen before a field is given up of which most could not be names."""

DISTINCT = 3
"""LIMIT: different values below which a field says nothing: `default` names something anywhere."""

CHANCE = 1e-4
"""LIMIT: how likely it may be that random names would do as well; of the thousands of fields of a
cluster most have few values, or none that name anything."""

NAMED = 253
"""LIMIT: characters of a name."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?")

# Of these nothing is a name by itself: they are keys and values of labels, texts, or states.
SKIPPED = frozenset(
    {
        "matchLabels", "matchExpressions", "nodeSelector", "labels", "annotations", "conditions",
        "managedFields", "apiVersion", "kind", "description", "openAPIV3Schema",
    }
)  # fmt: skip
WITHHELD = frozenset({("", "Secret"), ("", "ConfigMap"), ("", "Event"), ("events.k8s.io", "Event")})
"""Kinds of which nothing but the name is looked at: secrets are nobody's to read, the rest is
free text."""

Kind = tuple[str, str]
"""Group and kind, as an object says itself."""


class Proposal(msgspec.Struct, frozen=True):
    """What the data speaks for.

    `support`: objects that have the field; `distinct`: different values; `confidence`: the share
    of different values that name an existing object; `lift`: how many times the share that random
    names would have; `also`: other kinds that the values name as often.
    """

    name: str
    of: TypeName
    says: Reference
    support: int
    distinct: int
    confidence: float
    lift: float
    also: tuple[TypeName, ...] = ()

    @property
    def rule(self) -> ReferenceRule:
        """The rule, as it may be applied."""
        return ReferenceRule(self.name, self.of, self.says)


class Mined(msgspec.Struct, frozen=True):
    """What came of it; `left_out`: kinds with too many objects to be looked for by name."""

    proposals: tuple[Proposal, ...]
    objects: int
    kinds: int
    left_out: tuple[TypeName, ...] = ()


class _Pair(NamedTuple):
    """A value, and the namespace in which it would name something."""

    namespace: str
    value: str


class _Field:
    """What was seen of one field of one kind."""

    __slots__ = ("opaque", "pairs", "placed", "seen", "support")

    def __init__(self) -> None:
        self.support = 0
        self.seen = 0
        self.opaque = 0
        self.placed = 0
        self.pairs: set[_Pair] = set()

    def take(self, pair: _Pair, *, placed: bool) -> None:
        """Note a value. `placed`: a field beside it said the namespace."""
        self.seen += 1
        if _NAME.fullmatch(pair.value) is None:
            self.opaque += 1
        self.placed += placed
        if len(self.pairs) < PAIRS:
            self.pairs.add(pair)

    @property
    def hopeless(self) -> bool:
        """Whether most values are no names."""
        return self.opaque >= OPAQUE and 2 * self.opaque > self.seen


class _Leaf(NamedTuple):
    steps: tuple[str, ...]
    value: str
    namespace: str
    """What a field beside it says; empty where none does."""


class Miner:
    """Takes objects one by one, in any order; then proposes."""

    def __init__(self, *, names: int = NAMES) -> None:
        self._known: dict[Kind, set[tuple[str, ...]]] = {}
        self._names: dict[Kind, set[tuple[str, str]]] = {}
        self._limit = names
        self._named = 0
        self._left_out: set[Kind] = set()
        self._fields: dict[Kind, dict[tuple[str, ...], _Field]] = {}
        self._counted = 0
        self._objects = 0

    def know(self, kind: Kind, rules: Iterable[ReferenceRule]) -> None:
        """Take what rules read of a kind already, which is not proposed again."""
        for rule in rules:
            if isinstance(rule.says, Reference):
                self._known.setdefault(kind, set()).add(rule.says.field.steps)

    def name(self, kind: Kind, namespace: str, name: str) -> None:
        """Take an object of which nothing but its name is known."""
        self._objects += 1
        if kind in self._left_out:
            return
        names = self._names.setdefault(kind, set())
        before = len(names)
        names.add((namespace, name))
        self._named += len(names) - before
        if self._named > self._limit:
            most = max(self._names, key=lambda one: (len(self._names[one]), one))
            self._named -= len(self._names.pop(most))
            self._left_out.add(most)

    def take(self, kind: Kind, namespace: str, name: str, body: object) -> None:
        """Take an object with its body, as plain JSON.

        Of what has a controller only the name: its fields are stamped out, and prove nothing twice.
        """
        self.name(kind, namespace, name)
        if kind in WITHHELD or not isinstance(body, dict) or _controlled(body):
            return
        fields = self._fields.setdefault(kind, {})
        touched: set[tuple[str, ...]] = set()
        own = _Pair(namespace, name)
        for leaf in _leaves(body):
            pair = _Pair(leaf.namespace or namespace, leaf.value)
            # WHY: kin of one name are found by their name, and a field that repeats it is a label.
            if pair == own:
                continue
            field = fields.get(leaf.steps)
            if field is None:
                if len(fields) >= FIELDS or self._counted >= ALL_FIELDS:
                    continue
                field = fields[leaf.steps] = _Field()
                self._counted += 1
            touched.add(leaf.steps)
            if not field.hopeless:
                field.take(pair, placed=bool(leaf.namespace))
        for steps in touched:
            fields[steps].support += 1

    def mined(self, *, support: int, confidence: float) -> Mined:
        """Propose what at least `support` objects and a share of `confidence` speak for."""
        census = _Census(self._names)
        found: list[Proposal] = []
        for kind, fields in sorted(self._fields.items()):
            known = self._known.get(kind, set())
            for steps, field in sorted(fields.items()):
                if field.support < support or field.hopeless:
                    continue
                if steps in known or _built_in(kind, steps) or not _writable(steps):
                    continue
                proposal = _proposal(kind, steps, field, census, confidence)
                if proposal is not None:
                    found.append(proposal)
        return Mined(
            tuple(_without_places(found, self._known)),
            self._objects,
            len({*self._names, *self._left_out}),
            tuple(TypeName(*kind) for kind in sorted(self._left_out)),
        )


class _Census:
    """How many objects of each kind there are, and where: what chance is reckoned from."""

    def __init__(self, names: Mapping[Kind, set[tuple[str, str]]]) -> None:
        self.names = names
        self.different = {name for found in names.values() for _, name in found}
        self._counts = {
            kind: Counter(namespace for namespace, _ in found) for kind, found in names.items()
        }

    def cluster_scoped(self, kind: Kind) -> bool:
        """Whether the objects of a kind are in no namespace."""
        return self._counts[kind].keys() == {""}

    def hits(self, kind: Kind, pairs: Collection[_Pair]) -> int:
        """Return how many pairs name an object of a kind."""
        names = self.names[kind]
        if self.cluster_scoped(kind):
            return sum(("", value) in names for _, value in pairs)
        return sum(pair in names for pair in pairs)

    def chance(self, kind: Kind, pairs: Collection[_Pair], different: int) -> float:
        """Return the share of pairs that would name one, were each value any name at random."""
        counts = self._counts[kind]
        if self.cluster_scoped(kind):
            return counts[""] / different
        return sum(counts[namespace] for namespace, _ in pairs) / (len(pairs) * different)


class _Guess(NamedTuple):
    """How well one kind explains a field; the greatest is the best."""

    hinted: bool
    share: float
    lift: float
    kind: Kind


def _proposal(
    kind: Kind, steps: tuple[str, ...], field: _Field, census: _Census, confidence: float
) -> Proposal | None:
    """Return what the values of a field name, if they name anything."""
    values = {pair.value for pair in field.pairs}
    if len(values) < DISTINCT:
        return None
    different = len(census.different | values)
    guesses: list[_Guess] = []
    for target in census.names:
        share = census.hits(target, field.pairs) / len(field.pairs)
        if share < confidence or share == 0:
            continue
        chance = census.chance(target, field.pairs, different)
        if _by_chance(share, chance, len(field.pairs)) <= CHANCE:
            guesses.append(_Guess(_hinted(steps, target), share, share / chance, target))
    if not guesses:
        return None
    best = max(guesses)
    others = sorted(one.kind for one in guesses if one.share == best.share and one != best)
    place: Place | FieldPath = Place.SAME
    if census.cluster_scoped(best.kind):
        place = Place.CLUSTER
    elif field.placed:
        place = FieldPath((*steps[:-1], "namespace"))
    says = Reference(FieldPath(steps), TypeName(*best.kind), place, optional=best.share < 1)
    return Proposal(
        _rule_name(kind, steps, best.kind),
        TypeName(*kind),
        says,
        field.support,
        len(values),
        best.share,
        best.lift,
        tuple(TypeName(*other) for other in others),
    )


def _by_chance(share: float, chance: float, count: int) -> float:
    """Return how likely such a share of `count` names is by chance, at most.

    Source: the Chernoff bound of a binomial tail, exact where all hit.
    """
    if share <= chance:
        return 1.0
    bits = share * math.log(share / chance)
    if share < 1:
        bits += (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-count * bits)


def _hinted(steps: tuple[str, ...], target: Kind) -> bool:
    """Whether a field is called after a kind: `secretName`, `secretRef.name`, `broker`."""
    last = "".join([step for step in steps if step][-2:])
    return target[1].lower() in last.lower()


def _without_places(
    found: list[Proposal], known: Mapping[Kind, set[tuple[str, ...]]]
) -> Iterator[Proposal]:
    """Leave out fields that say where the object of another field is."""
    places = {(one.of, one.says.place) for one in found if isinstance(one.says.place, FieldPath)}
    places |= {
        (TypeName(*kind), FieldPath((*steps[:-1], "namespace")))
        for kind, paths in known.items()
        for steps in paths
        if steps[-1] == "name"
    }
    for one in found:
        if (one.of, one.says.field) not in places:
            yield one


def _rule_name(kind: Kind, steps: tuple[str, ...], target: Kind) -> str:
    """Return a name that an object can have, and that the same finding has every time."""
    text = f"{kind[1]}.{kind[0]} {path_text(steps)} {target[1]}.{target[0]}"
    path = path_text([step for step in steps if step not in ("", "spec")])
    words = re.sub(r"[^a-z0-9]+", "-", f"{kind[1]}-{path}-{target[1]}".lower()).strip("-")
    # LIMIT: 63 characters, so that the name is a label's value too; 8 tell long ones apart.
    return words if len(words) <= 63 else f"{words[:54].strip('-')}-{zlib.crc32(text.encode()):08x}"


def _built_in(kind: Kind, steps: tuple[str, ...]) -> bool:
    """Whether a built-in edge reads a field, or reads it to know where the named object is."""
    name = (*steps[:-1], "name") if steps[-1] == "namespace" else steps
    return covered(kind[0], name)


def _writable(steps: tuple[str, ...]) -> bool:
    """Whether a rule can say where the field is; a key with quotes and brackets it cannot."""
    try:
        return FieldPath.parse(path_text(steps)).steps == steps
    except FieldPathError:
        return False


def _controlled(body: Mapping[str, object]) -> bool:
    metadata = body.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(
        isinstance(owner, dict) and owner.get("controller") is True for owner in owners
    )


def _leaves(body: Mapping[str, object]) -> Iterator[_Leaf]:
    """Yield the texts of a body that might be names, with where they stand."""
    waiting: list[tuple[tuple[str, ...], object, str]] = [
        ((name,), value, "") for name, value in body.items() if name != "metadata"
    ]
    while waiting:
        steps, value, namespace = waiting.pop()
        if steps[-1] in SKIPPED or len(steps) > DEPTH:
            continue
        if isinstance(value, str):
            if 0 < len(value) <= NAMED:
                yield _Leaf(steps, value, "" if steps[-1] == "namespace" else namespace)
        elif isinstance(value, dict):
            beside = value.get("namespace")
            place = beside if isinstance(beside, str) else ""
            # WHY not the empty key: as a step it would mean every item.
            waiting += [((*steps, name), below, place) for name, below in value.items() if name]
        elif isinstance(value, list):
            waiting += [((*steps, ""), below, "") for below in value]
