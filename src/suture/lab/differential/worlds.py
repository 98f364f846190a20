"""A random world: one or two namespaces with everything that hangs together in a cluster.

A function of seed and number, so that a case can be made again. Small, since a case needs only
what is around its write; odd, since controllers differ from their documentation at the edges.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from suture.lab.differential.running import GROUP, Running, prefix_of
from suture.lab.differential.writes import Body, Create, Delete, OwnedBy, Patch, Write
from suture.lab.scenarios.shapes import parts
from suture.model.names import CONFIG_MAPS, ObjectKey, Resource

HELD = f"{GROUP}/held"
"""A finalizer that its controller, the run itself, takes off whatever is being deleted."""

KEPT = f"{GROUP}/kept"
"""A finalizer that nobody takes off but a case."""

OWN_KIND = 12
"""Every so many worlds one has a definition of its own, which a case may delete."""

WIDGETS = Resource(GROUP, "widgets")


class World(msgspec.Struct, frozen=True):
    """What is made for one row of cases: namespaces, objects, then, once they stand, the rest."""

    seed: int
    number: int
    spaces: tuple[Create, ...]
    first: tuple[Create, ...]
    then: tuple[Write, ...]
    probed: tuple[str, ...]
    """Namespaces in which webhooks may stand in the way of new pods."""

    @property
    def prefix(self) -> str:
        """What the names of its namespaces and of all its cluster-scoped objects begin with."""
        return prefix_of(self.seed, self.number)


def group_of(seed: int, number: int) -> str:
    """Return the group of a world's own kind."""
    return f"w{number}.s{seed}.{GROUP}"


def has_own_kind(number: int) -> bool:
    """Whether a world has a definition of its own."""
    return number % OWN_KIND == OWN_KIND - 1


def definition(group: str, plural: str, kind: str, *, namespaced: bool = True) -> Body:
    """Return the definition of a kind without a schema to speak of."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    version = {"name": "v1", "served": True, "storage": True}
    spec = {
        "group": group,
        "names": names,
        "scope": "Namespaced" if namespaced else "Cluster",
        "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
    }
    return parts.thing(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec=spec
    )


def shared_kinds() -> list[Body]:
    """Return the definitions that all worlds make instances of."""
    return [
        definition(GROUP, "widgets", "Widget"),
        definition(GROUP, "planets", "Planet", namespaced=False),
    ]


def own_kind(seed: int, number: int) -> Body:
    """Return the definition that a world has for itself."""
    return definition(group_of(seed, number), "gadgets", "Gadget")


def world(seed: int, number: int) -> World:
    """Return the world of a number."""
    build = _Build(seed, number)
    build.all()
    return World(
        seed=seed,
        number=number,
        spaces=tuple(Create(body) for body in parts.spaces(build.spaces)),
        first=tuple(build.first),
        then=tuple(build.then),
        probed=tuple(dict.fromkeys(build.probed)),
    )


class _Build(Running):
    """One world while its dice fall."""

    def all(self) -> None:
        """Make what is in the namespaces, as the dice fall."""
        self.owned_things()
        likely: list[tuple[float, Callable[[], None]]] = [
            (0.75, self.served_deployment),
            (0.3, self.deployment),
            (0.25, self.stateful),
            (0.15, self.daemon),
            (0.25, self.jobs),
            (0.3, self.bare_pods),
            (0.15, self.replica_set),
            (0.2, self.claims),
            (0.2, self.by_hand),
            (0.22, self.webhook),
            (0.3, self.held),
            (0.15, self.circle),
        ]
        for share, make in likely:
            if self.dice.random() < share:
                make()
        if has_own_kind(self.number):
            self.gadgets()

    # ---- who owns whom

    def owned_things(self) -> None:
        """Make four to nine things, each owned by none, one or two of those before it."""
        for number in range(self.dice.randrange(4, 10)):
            self.owned_thing(f"o{number}")

    def owned_thing(self, name: str) -> None:
        kind = self.dice.choices(
            ["ConfigMap", "Secret", "Widget", "ServiceAccount", "Planet"], [5, 2, 4, 1, 1]
        )[0]
        space = "" if kind == "Planet" else self.space()
        name = f"{self.prefix}{name}" if kind == "Planet" else name
        api = f"{GROUP}/v1" if kind in {"Widget", "Planet"} else "v1"
        labels = {"app": self.dice.choice(["web", "db"]), "tier": self.dice.choice("xy")}
        body = parts.thing(api, kind, name, space or None, labels)
        if self.dice.random() < 0.15:
            body["metadata"]["finalizers"] = [HELD]
        self.add(body, owners=self.owners(space))
        self.may_own.append(OwnedBy(api, kind, name, space))

    def circle(self) -> None:
        """Make two things that own each other, of which one may have another owner too."""
        space = self.space()
        one, two = (OwnedBy("v1", "ConfigMap", name, space) for name in ("ring-0", "ring-1"))
        self.add(parts.config("ConfigMap", space, one.name, {"app": "ring"}, {}))
        self.add(parts.config("ConfigMap", space, two.name, {"app": "ring"}, {}), owners=(one,))
        others = self.owners(space)[:1]
        key = ObjectKey(CONFIG_MAPS, space, one.name)
        self.then.append(Patch(key, "owners", {}, (two, *others)))

    def held(self) -> None:
        """Make a thing that is being deleted and waits for its finalizer, with a dependent."""
        space = self.space()
        waiting = parts.thing(f"{GROUP}/v1", "Widget", "waiting", space)
        waiting["metadata"]["finalizers"] = [KEPT]
        owner = OwnedBy(f"{GROUP}/v1", "Widget", "waiting", space)
        self.add(waiting)
        self.add(parts.config("ConfigMap", space, "of-waiting", {}, {}), owners=(owner,))
        self.then.append(Delete(ObjectKey(WIDGETS, space, "waiting")))

    def gadgets(self) -> None:
        """Make instances of the world's own kind, some with dependents and finalizers."""
        api = f"{group_of(self.seed, self.number)}/v1"
        for number in range(self.dice.randrange(2, 6)):
            space, name = self.space(), f"g{number}"
            body = parts.thing(api, "Gadget", name, space, {"app": "web"})
            if self.dice.random() < 0.3:
                body["metadata"]["finalizers"] = [HELD]
            self.add(body, owners=self.owners(space))
            owner = OwnedBy(api, "Gadget", name, space)
            if self.dice.random() < 0.6:
                self.add(
                    parts.config("ConfigMap", space, f"of-{name}", {"app": "web"}, {}),
                    owners=(owner, *self.owners(space)[:1]),
                )
            self.may_own.append(owner)

    # ---- what is named

    def claims(self) -> None:
        """Make a bound claim, which a pod may use."""
        space, storage = self.space(), f"{self.prefix}plain"
        self.add(self.volume(f"{storage}-0", storage))
        claim = parts.thing(
            "v1", "PersistentVolumeClaim", "data", space, spec=self.claim_spec(storage)
        )
        self.add(claim, owners=self.owners(space)[:1])
        if self.dice.random() < 0.5:
            used = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
            self.add(parts.pod(space, "user", parts.template({"app": "user"}, volumes=used)))

    def by_hand(self) -> None:
        """Make a Service without a selector, and the slice that somebody writes for it."""
        space = self.space()
        self.add(parts.service(space, "hand", {"app": "hand"}))
        endpoints = [
            {"addresses": [f"192.0.2.{number + 1}"], "conditions": {"ready": True}}
            for number in range(2)
        ]
        body = parts.thing(
            "discovery.k8s.io/v1", "EndpointSlice", "hand-0", space,
            {"kubernetes.io/service-name": "hand"}, addressType="IPv4", endpoints=endpoints,
            ports=[{"name": "", "port": 80, "protocol": "TCP"}],
        )  # fmt: skip
        self.add(body)

    def webhook(self) -> None:
        """Make a webhook in the way of new pods: its backend lives, is empty, or never was."""
        space, fate = self.spaces[0], self.dice.choices(["live", "empty", "none"], [8, 1, 1])[0]
        if fate != "none":
            self.add(
                parts.workload(
                    "Deployment", space, "hook", {"app": "hook"},
                    parts.template({"app": "hook", "tier": "z"}),
                    replicas=self.dice.randrange(1, 3) if fate == "live" else 0,
                )
            )  # fmt: skip
            self.add(parts.service(space, "hook", {}, selector={"app": "hook"}, ports=(443,)))
        self.probed += self.spaces
        self.then.append(Create(self.configuration(space, self.dice.random() < 0.8)))

    def configuration(self, space: str, fails_closed: bool) -> Body:
        """Return a configuration whose one webhook sees new pods, its own backend's or not."""
        where: list[Body] = [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": self.spaces}
        ]
        hook: Body = {
            "name": f"{self.prefix}pods.{GROUP}",
            "clientConfig": {"service": {"namespace": space, "name": "hook"}},
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                 "resources": ["pods"]}
            ],
            "namespaceSelector": {"matchExpressions": where},
            "failurePolicy": "Fail" if fails_closed else "Ignore",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 5,
        }  # fmt: skip
        if self.dice.random() < 0.5:
            spared = {"key": "app", "operator": "NotIn", "values": ["hook"]}
            hook["objectSelector"] = {"matchExpressions": [spared]}
        return parts.thing(
            "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
            f"{self.prefix}hooks", webhooks=[hook],
        )  # fmt: skip
