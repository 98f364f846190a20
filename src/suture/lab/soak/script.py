"""What each writer of a soak does, step by step: a function of the seed and nothing else.

So a seed that failed can be run again. What comes of a step is the cluster's business: many name
what is not there, or is going, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from suture.lab.clusters.chance import dice as chance
from suture.lab.clusters.chance import uid as made_uid
from suture.lab.soak.bodies import Kind, a_name, custom_kinds, kinds_of, some_labels
from suture.model.names import Propagation

SPACES = 5
FINALIZER = "soak.test/held"


class Apply(msgspec.Struct, frozen=True):
    """Create an object, or make it as the body says. `owners` are found when the step is made."""

    kind: Kind
    namespace: str
    name: str
    body: dict[str, Any]
    owners: tuple[tuple[Kind, str], ...] = ()
    stranger: str = ""
    """The uid of an owner that never was; empty for none."""


class Delete(msgspec.Struct, frozen=True):
    """Delete an object."""

    kind: Kind
    namespace: str
    name: str
    propagation: Propagation | None = None


class DeleteAll(msgspec.Struct, frozen=True):
    """Delete a collection, by selector or whole."""

    kind: Kind
    namespace: str
    selector: str | None


class Release(msgspec.Struct, frozen=True):
    """Take the finalizers off an object."""

    kind: Kind
    namespace: str
    name: str


class Scale(msgspec.Struct, frozen=True):
    """Set a Deployment's size through its sub-resource."""

    namespace: str
    name: str
    replicas: int


class DropSpace(msgspec.Struct, frozen=True):
    """Delete a namespace with all that is in it."""

    namespace: str


class MakeSpace(msgspec.Struct, frozen=True):
    """Create a namespace, anew where it was."""

    namespace: str
    labels: dict[str, str]


class DropKind(msgspec.Struct, frozen=True):
    """Delete a definition with all its instances."""

    kind: Kind


class MakeKind(msgspec.Struct, frozen=True):
    """Create a definition, anew where it was."""

    kind: Kind


Step = Apply | Delete | DeleteAll | Release | Scale | DropSpace | MakeSpace | DropKind | MakeKind


def spaces_of(seed: int) -> tuple[str, ...]:
    """Return the namespaces of a soak."""
    return tuple(f"soak-{seed}-{number}" for number in range(SPACES))


def script(seed: int, writer: int, steps: int) -> Iterator[Step]:
    """Yield what a writer does."""
    dice = chance(seed, "writer", writer)
    kinds = tuple(kinds_of(seed).values())
    weights = [kind.weight for kind in kinds]
    spaces = spaces_of(seed)
    for _ in range(steps):
        (kind,) = dice.choices(kinds, weights)
        space = dice.choice(spaces) if kind.namespaced else ""
        name = a_name(dice) if kind.namespaced else f"soak-{seed}-{a_name(dice)}"
        fate = dice.random()
        if fate < 0.68:
            yield _apply(dice, seed, kind, space, name)
        elif fate < 0.90:
            policy = dice.choice([None, None, *Propagation])
            yield Delete(kind, space, name, policy)
        elif fate < 0.94:
            yield Release(kind, space, name)
        elif fate < 0.96:
            yield Scale(dice.choice(spaces), a_name(dice), dice.randrange(3))
        elif fate < 0.98:
            # WHY by selector where no namespace bounds it: the cluster has some of its own.
            by_label = not kind.namespaced or dice.random() < 0.7
            yield DeleteAll(kind, space, f"app={a_name(dice)}" if by_label else None)
        elif fate < 0.981:
            yield DropSpace(dice.choice(spaces))
        elif fate < 0.992:
            yield MakeSpace(dice.choice(spaces), some_labels(dice))
        elif fate < 0.994:
            yield DropKind(dice.choice(custom_kinds(seed)))
        else:
            yield MakeKind(dice.choice(custom_kinds(seed)))


def _apply(dice: Random, seed: int, kind: Kind, space: str, name: str) -> Apply:
    labels = some_labels(dice) | {"soak": str(seed)}
    if kind.kind == "EndpointSlice" and dice.random() < 0.8:
        labels["kubernetes.io/service-name"] = a_name(dice)
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    if kind.kind != "Pod" and dice.random() < 0.05:
        metadata["finalizers"] = [FINALIZER]
    owners: tuple[tuple[Kind, str], ...] = ()
    stranger = ""
    if kind.namespaced:
        of_this = [one for one in kinds_of(seed).values() if one.namespaced]
        number = dice.choice([0, 0, 0, 0, 1, 1, 2])
        owners = tuple((dice.choice(of_this), a_name(dice)) for _ in range(number))
        if dice.random() < 0.01:
            stranger = made_uid(seed, space, name)
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    return Apply(kind, space, name, body | kind.body(dice, name), owners, stranger)
