"""What the model is asked, and how long each answer takes: the same for it and its baselines.

Questions are picked by chance from the cluster itself, so that no answer is warm in a cache; how
they are answered is the answerer's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from typing import Protocol, TypeVar

import msgspec

from suture.impact.ground.cascade import closure
from suture.model.graph import GraphView
from suture.model.names import CRDS, DEPLOYMENTS, NAMESPACES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import CrdFacts, ServiceFacts
from suture.model.selectors import Selector

GIANTS = 5
"""How often each giant is asked for."""

NAMESPACE_OBJECTS, INSTANCES = 5_000, 50_000
"""How large the namespace and the definition are that are looked for; the nearest are taken."""


class Questions(msgspec.Struct, frozen=True):
    """What is asked about."""

    pods: tuple[ObjectKey, ...]
    services: tuple[ObjectKey, ...]
    deployments: tuple[ObjectKey, ...]
    selectors: tuple[tuple[str, Selector], ...]
    """Namespaces, and what a Service there might select after a change."""
    namespace: ObjectKey
    definition: ObjectKey


A = TypeVar("A")
B = TypeVar("B")


class Answerer(Protocol[A]):
    """Something that knows the cluster; `A` is how it speaks of an object."""

    def pod_selectors(self, pod: ObjectKey) -> Collection[A]:
        """Return the Services that select a pod."""
        ...

    def service_loss(self, service: ObjectKey) -> tuple[int, Collection[A]]:
        """Return what a Service's delete takes: its ready endpoints, and who refers to it."""
        ...

    def descendants(self, deployment: ObjectKey) -> Collection[A]:
        """Return what goes with a Deployment."""
        ...

    def everything_of(self, whole: ObjectKey) -> Collection[A]:
        """Return what goes with a namespace or a definition."""
        ...

    def all_services(self) -> Collection[A]:
        """Return what goes with all Services."""
        ...

    def keys(self, found: Collection[A]) -> frozenset[ObjectKey]:
        """Name objects by their keys, so that two answers can be compared."""
        ...


Reselect = Callable[[str, Selector], int]
"""Returns how many serving pods of a namespace a selector would match. Apart, since a graph of
edges cannot be asked that."""


class Model:
    """The model itself: rows, by the functions that decisions use."""

    def __init__(self, view: GraphView) -> None:
        self.view = view

    def row(self, key: ObjectKey) -> int:
        """Return the row of an object that is there."""
        row = self.view.find(key)
        if row is None:
            raise KeyError(key)
        return row

    def pod_selectors(self, pod: ObjectKey) -> list[int]:
        """Return the Services that select a pod."""
        return self.view.services_of(self.row(pod))

    def service_loss(self, service: ObjectKey) -> tuple[int, list[int]]:
        """Return what a Service's delete takes."""
        row = self.row(service)
        return self.view.serving_count(row), self.view.referrers(row)

    def descendants(self, deployment: ObjectKey) -> Collection[int]:
        """Return what goes with a Deployment."""
        return closure(self.view, (self.row(deployment),))

    def reselect(self, namespace: str, selector: Selector) -> int:
        """Return how many serving pods of a namespace a selector would match."""
        return self.view.serving_selected(namespace, selector)

    def everything_of(self, whole: ObjectKey) -> Collection[int]:
        """Return what goes with a namespace or a definition."""
        return closure(self.view, (self.row(whole),))

    def all_services(self) -> Collection[int]:
        """Return what goes with all Services."""
        return closure(self.view, self.view.rows(SERVICES))

    def keys(self, found: Collection[int]) -> frozenset[ObjectKey]:
        """Name objects by their keys."""
        return frozenset(map(self.view.key, found))


class Asked(msgspec.Struct, frozen=True):
    """The CPU time of each answer in µs, by the question's name; how many objects giants have."""

    small_us: Mapping[str, list[float]]
    giants_us: Mapping[str, list[float]]
    sizes: Mapping[str, int]


def pick(view: GraphView, dice: Random, calls: int) -> Questions:
    """Pick what is asked about."""

    def keys(resource: Resource) -> tuple[ObjectKey, ...]:
        rows = view.rows(resource)
        return tuple(view.key(dice.choice(rows)) for _ in range(calls))

    services = keys(SERVICES)
    namespaces = [view.key(row) for row in view.rows(NAMESPACES)]
    return Questions(
        pods=keys(PODS),
        services=services,
        deployments=keys(DEPLOYMENTS),
        selectors=tuple(_changed(view, services, dice)),
        namespace=min(
            namespaces, key=lambda one: abs(len(view.members(one.name)) - NAMESPACE_OBJECTS)
        ),
        definition=view.key(
            min(view.rows(CRDS), key=lambda row: abs(_instances(view, row) - INSTANCES))
        ),
    )


def _changed(
    view: GraphView, services: Iterable[ObjectKey], dice: Random
) -> Iterable[tuple[str, Selector]]:
    """Yield selectors as a careless change leaves them: one requirement short, of several."""
    for key in services:
        row = view.find(key)
        facts = None if row is None else view.facts(row)
        if not isinstance(facts, ServiceFacts) or facts.selector is None:
            continue
        requirements = list(facts.selector.requirements)
        if len(requirements) > 1:
            del requirements[dice.randrange(len(requirements))]
        yield key.namespace, Selector(tuple(requirements))


def _instances(view: GraphView, row: int) -> int:
    facts = view.facts(row)
    return view.count(facts.resource) if isinstance(facts, CrdFacts) else 0


def ask(answerer: Answerer[A], questions: Questions, reselect: Reselect | None = None) -> Asked:
    """Ask everything, and time each answer."""
    small = {
        "pod_selectors": [_us(answerer.pod_selectors, one) for one in questions.pods],
        "service_loss": [_us(answerer.service_loss, one) for one in questions.services],
        "deployment_descendants": [_us(answerer.descendants, one) for one in questions.deployments],
    }
    if reselect is not None:
        small["reselect"] = [_us(reselect, *one) for one in questions.selectors]
    giants: dict[str, Callable[[], Collection[A]]] = {
        "namespace_closure": lambda: answerer.everything_of(questions.namespace),
        "definition_closure": lambda: answerer.everything_of(questions.definition),
        "all_services_closure": answerer.all_services,
    }
    return Asked(
        small,
        {name: [_us(ask) for _ in range(GIANTS)] for name, ask in giants.items()},
        {name: len(ask()) for name, ask in giants.items()},
    )


def _us(call: Callable[..., object], *about: object) -> float:
    started = time.thread_time_ns()
    call(*about)
    return (time.thread_time_ns() - started) / 1e3


def differences(one: Answerer[A], other: Answerer[B], questions: Questions) -> list[str]:
    """Return the questions that two answer differently; none where both are right."""

    def differ(found: Collection[A], others: Collection[B]) -> bool:
        return one.keys(found) != other.keys(others)

    found = [
        f"who selects {pod}"
        for pod in questions.pods
        if differ(one.pod_selectors(pod), other.pod_selectors(pod))
    ]
    for service in questions.services:
        (had, users), (others_had, others) = one.service_loss(service), other.service_loss(service)
        if had != others_had or differ(users, others):
            found.append(f"what {service} loses")
    found += [
        f"what goes with {whole}"
        for whole in questions.deployments
        if differ(one.descendants(whole), other.descendants(whole))
    ]
    found += [
        f"what goes with {whole}"
        for whole in (questions.namespace, questions.definition)
        if differ(one.everything_of(whole), other.everything_of(whole))
    ]
    if differ(one.all_services(), other.all_services()):
        found.append("what goes with all Services")
    return found
