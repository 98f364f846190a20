"""Rights as roles grant them: rules, single rights, and which rights lead to all others.

In the model because a role's rules are what it is. Pure.
Source: rbac/v1 PolicyRule; the list of Kubernetes' own documentation, "RBAC Good Practices,
privilege escalation risks".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

ANY = "*"
RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"


class RightsRule(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One rule of a role: verbs on resources of groups, on some names only where any are given.

    Rules about paths of the API that are no resources have `paths` and nothing else but verbs.
    """

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Right(msgspec.Struct, frozen=True, gc=False, order=True):
    """One verb on one resource, `*` for any; `name` empty: on all its objects."""

    verb: str
    group: str
    resource: str
    name: str = ""

    def __str__(self) -> str:
        kind = f"{self.resource}.{self.group}" if self.group not in ("", ANY) else self.resource
        return f"{self.verb} {kind} {self.name}".rstrip()

    def covers(self, other: Right) -> bool:
        """Whether who has this right has the other."""
        return (
            self.verb in (ANY, other.verb)
            and self.group in (ANY, other.group)
            and _resource_covers(self.resource, other.resource)
            and self.name in ("", other.name)
        )


def _resource_covers(mine: str, other: str) -> bool:
    if mine in (ANY, other):
        return True
    # SOURCE: rbac/v1 ResourceMatches: `*/scale` is that subresource of everything.
    plural, _, part = mine.partition("/")
    return plural == ANY and bool(part) and other.partition("/")[2] == part


PATHS = "(path)"
"""The group under which paths of the API that are no resources are listed among rights."""


def rights_of(rules: Iterable[RightsRule]) -> Iterator[Right]:
    """Yield each single right that rules grant."""
    for rule in rules:
        for verb in rule.verbs:
            for path in rule.paths:
                yield Right(verb, PATHS, path)
            for group in rule.groups:
                for resource in rule.resources:
                    for name in rule.names or ("",):
                        yield Right(verb, group, resource, name)


_ESCALATIONS: tuple[tuple[str, frozenset[str], str, frozenset[str]], ...] = (
    ("escalate", frozenset({"escalate"}), RBAC, frozenset({"roles", "clusterroles"})),
    ("bind", frozenset({"bind"}), RBAC, frozenset({"roles", "clusterroles"})),
    (
        "impersonate",
        frozenset({"impersonate"}),
        "",
        frozenset({"users", "groups", "serviceaccounts"}),
    ),
    ("secrets", frozenset({"get", "list", "watch"}), "", frozenset({"secrets"})),
    ("exec", frozenset({"create", "get"}), "", frozenset({"pods/exec", "pods/attach"})),
    ("tokens", frozenset({"create"}), "", frozenset({"serviceaccounts/token"})),
    ("nodes-proxy", frozenset({"get", "create"}), "", frozenset({"nodes/proxy"})),
    (
        "webhooks",
        frozenset({"create", "update", "patch"}),
        ADMISSION,
        frozenset({"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}),
    ),
)


def escalates(right: Right) -> tuple[str, ...]:
    """Return by which of the known ways a right leads to all others; none for nearly all.

    A right to objects by name counts for impersonation, escalation and binding too, but reading a
    Secret by its name is what most workloads do and counts for nothing.
    """
    if right.verb == ANY and right.group == ANY and right.resource == ANY:
        return ("wildcard",)
    return tuple(
        word
        for word, verbs, group, resources in _ESCALATIONS
        if not (right.name and word == "secrets")
        and right.group in (group, ANY)
        and (right.verb == ANY or right.verb in verbs)
        and any(_resource_covers(right.resource, one) for one in resources)
    )
