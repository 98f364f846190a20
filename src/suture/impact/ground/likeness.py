"""Whether a domain or kind and an identity are called alike, where nothing else says who runs what.

Kubernetes names kinds, finalizers and identities, and never says which belong together. Operators
are called after their product, and so are their kinds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

NAMES_KEPT: Final = 4_096
"""LIMIT: pairs of a kind and an identity whose likeness is remembered, and identities whose words
are; 0.3 kB each, 1 MB."""

GENERIC: Final = frozenset(
    {
        "io", "com", "org", "net", "dev", "k8s", "x", "kubernetes", "cloud", "app", "apps",
        "operator", "operators", "controller", "controllers", "manager", "system", "kube",
        "serviceaccount", "default", "finalizer", "finalizers", "resources", "resource",
        "core", "api", "the", "sh", "cluster", "service", "account", "prod", "infra",
    }
)  # fmt: skip
"""Words that tell nobody apart: of domains, of what controllers are called, of where they run."""

MADE_OF: Final = frozenset(
    {
        "cluster", "clusters", "datacenters", "failovers", "instances", "operator", "qls",
        "servers",
    }
)  # fmt: skip
"""What kinds and groups have behind the name of a product: `tidbclusters`, `postgresqls`."""


@lru_cache(NAMES_KEPT)
def called_alike(name: str, identity: str) -> bool:
    """Whether a domain or kind and an identity share a word that tells anybody apart."""
    return not words_of_name(name).isdisjoint(words_of_identity(identity))


def words_of_name(name: str) -> frozenset[str]:
    """Return the words by which an identity may be called like a domain or kind.

    A kind is also called after a product with what there is of it, in one word.
    """
    words = _words(name)
    return words.union(
        word.removesuffix(of) for word in words for of in MADE_OF if word.endswith(of)
    )


@lru_cache(NAMES_KEPT)
def words_of_identity(identity: str) -> frozenset[str]:
    """Return the words that an identity is called.

    Of a user as of mail the name is what stands before `@`: the rest is of whom all there are.
    """
    return _words(identity.partition("@")[0])


def _words(text: str) -> frozenset[str]:
    """Return the words of a name that tell anybody apart."""
    for mark in ".:/_@":
        text = text.replace(mark, "-")
    return frozenset(one for one in text.lower().split("-") if len(one) > 1) - GENERIC
