"""Policy files as their authors write them: one Struct a kind, unknown fields refused.

Shape only; what the fields mean together is `compile`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

API_VERSION = "policies.suture.dev/v1alpha1"
TEMPLATE_KIND = "PolicyTemplate"


class Metadata(msgspec.Struct, frozen=True):
    """What is read of an object's metadata; the API server's own fields may stand beside it."""

    name: str


class SchemaFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """The part of an OpenAPI v3 schema that parameters may use."""

    type: str = ""
    description: str = ""
    default: object = msgspec.UNSET
    enum: list[object] | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    required: list[str] = []
    properties: dict[str, SchemaFormat] | None = None
    items: SchemaFormat | None = None
    additional_properties: SchemaFormat | None = None
    int_or_string: bool = msgspec.field(default=False, name="x-kubernetes-int-or-string")


class ParametersFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a template declares its parameters."""

    schema: SchemaFormat = msgspec.field(name="openAPIV3Schema")


class ReadsFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests that a template must see to claim or refuse."""

    operations: list[str]
    groups: list[str]
    resources: list[str]


class WindowFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One sliding window of a budget: `{seconds: 1m, count: 5, percent: 1}`."""

    seconds: int | str
    count: int
    percent: int | float = 0


class BudgetFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A budget that the claims of a template ask of.

    `parameter` names the parameter with its windows, `by_key` the one with windows per key.
    `retry_after_seconds`: what is asked of it heals by itself, so that a refusal is passing.
    """

    name: str
    description: str = ""
    windows: list[WindowFormat] | None = None
    parameter: str = "windows"
    by_key: str = ""
    retry_after_seconds: int = 0


class KeyWindowsFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Windows for one key of a budget."""

    windows: list[WindowFormat]


class ViolationFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A condition that must not hold, and the words that say so.

    `enforcement_action`: how far it may go at most, unless a constraint says otherwise.
    """

    when: str
    message: str
    code: str = ""
    enforcement_action: str = "deny"
    each: str = ""
    retry_after_seconds: str = ""


class ClaimFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """An amount to ask of a budget for each effect of one name."""

    budget: str
    each: str
    key: str
    amount: str
    population: str
    message: str
    when: str = "true"


class TemplateSpec(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """The `spec` of a PolicyTemplate."""

    constraint_kind: str
    description: str = ""
    effects: list[str] = []
    reads: list[ReadsFormat] = []
    parameters: ParametersFormat | None = None
    budgets: list[BudgetFormat] = []
    violations: list[ViolationFormat] = []
    claims: list[ClaimFormat] = []


class TemplateFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A PolicyTemplate. `status`: what others say of it on a cluster; not read."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: TemplateSpec
    status: object = None


class KindsFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Types that a constraint matches; `*` is all of them."""

    groups: list[str]
    resources: list[str]


class ExpressionFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One requirement of a label selector."""

    key: str
    operator: str
    values: list[str] = []


class SelectorFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A label selector, as meta/v1 writes it."""

    match_labels: dict[str, str] = {}
    match_expressions: list[ExpressionFormat] = []


class MatchFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """Which requests a constraint applies to; what is left out excludes nothing."""

    operators: list[str] | None = None
    excluded_operators: list[str] = []
    operations: list[str] | None = None
    kinds: list[KindsFormat] | None = None
    namespaces: list[str] | None = None
    excluded_namespaces: list[str] = []
    names: list[str] | None = None
    label_selector: SelectorFormat | None = None


class ConstraintSpec(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """The `spec` of a constraint."""

    enforcement_action: str = "deny"
    enforcement_points: Mapping[str, str] = {}
    rules: Mapping[str, str] = {}
    match: MatchFormat = MatchFormat()
    parameters: dict[str, object] = {}


class ConstraintFormat(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A constraint of some template's kind. `status`: what others say of it; not read."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: ConstraintSpec = ConstraintSpec()
    status: object = None


class Header(msgspec.Struct, frozen=True, rename="camel"):
    """What every document must say of itself."""

    api_version: str
    kind: str
    metadata: Metadata
