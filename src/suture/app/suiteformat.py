"""Suites of policy tests as their authors write them: shape only, unknown fields refused."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

API_VERSION = "policies.suture.dev/v1alpha1"
KIND = "Suite"

Verb = Literal[
    "create", "apply", "patch", "delete", "deletecollection", "evict", "scale", "restart"
]
Expected = Literal["allow", "warn", "deny"]


class _Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Fields as YAML writes them."""


class RequestFormat(_Format, frozen=True, kw_only=True):
    """What is asked, by whom. `targets`: as many requests as there are, in this order.

    `objects` are whole objects (create, apply) in the order of their requests; `file` is a file of
    them, relative to the suite.
    """

    verb: Verb
    by: str = "suture-verify"
    groups: list[str] = []
    namespace: str | None = None
    target: str = ""
    targets: list[str] = []
    thing: dict[str, Any] | None = msgspec.field(default=None, name="object")
    objects: list[dict[str, Any]] = []
    file: str = ""
    patch: dict[str, Any] | None = None
    replicas: int | None = None
    selector: str | None = None
    propagation: Literal["background", "foreground", "orphan"] | None = None


class FindingFormat(_Format, frozen=True, kw_only=True):
    """One finding that is expected; `message` is a regular expression searched for in its words."""

    policy: str
    code: str = ""
    message: str = ""


class ExpectFormat(_Format, frozen=True, kw_only=True):
    """What is to come out. `at`: the number, from one, of the first request that is refused.

    `findings`: each must be there; `only`: no others may be.
    """

    answer: Expected
    at: int | None = None
    findings: list[FindingFormat] = []
    only: bool = False
    effects: list[str] = []


class CaseFormat(_Format, frozen=True, kw_only=True):
    """One case: a question to the world of its test, and what is to come out."""

    name: str
    request: RequestFormat
    expect: ExpectFormat
    cluster: list[dict[str, Any]] = []
    """Objects beside those of the test, for this case alone."""


class TestFormat(_Format, frozen=True, kw_only=True):
    """Cases over one world. `cluster_files` are relative to the suite."""

    name: str
    cluster: list[dict[str, Any]] = []
    cluster_files: list[str] = []
    cases: list[CaseFormat]


class SuiteSpec(_Format, frozen=True, kw_only=True):
    """Which policies, and the tests of them. `policies` are files or folders beside the suite."""

    policies: list[str] = []
    pack: bool = False
    tests: list[TestFormat]


class MetadataFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The suite's name."""

    name: str


class SuiteFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"api_version": "apiVersion"}
):
    """A suite."""

    api_version: Literal["policies.suture.dev/v1alpha1"]
    kind: Literal["Suite"]
    metadata: MetadataFormat
    spec: SuiteSpec
