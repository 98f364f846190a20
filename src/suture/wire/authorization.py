"""SubjectAccessReview in and out: what authorization asks, before anything is read or written.

Pure. Knows no bodies and no dry runs, since nobody shows them here: that is why whoever judges
what this returns only peeks. Source: authorization.k8s.io/v1.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from suture.errors import InputError, ReviewError
from suture.model.actor import UserInfo
from suture.model.names import NAMESPACES, Gvk, Gvr, Operation
from suture.model.request import Collection, Extent, One, Request
from suture.model.selectors import Operator, Requirement, Selector, parse_selector
from suture.wire.admission import refuse
from suture.wire.oddities import UNREADABLE
from suture.wire.users import User

API_VERSION = "authorization.k8s.io/v1"
KIND = "SubjectAccessReview"


class AccessAsked(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Whether `user` may do `verb`, on a resource or on a path.

    `gvr` None: on a non-resource `path`, as `/metrics`. `name` empty: on none, any or all, as the
    verb has it. `selector` None: no label selector was given, or it is a verb that has none.
    `fields`: the field selector, of everything where none was given.
    """

    verb: str
    user: UserInfo
    gvr: Gvr | None = None
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    selector: Selector | None = None
    fields: Selector = Selector()

    @property
    def deletion(self) -> Request | None:
        """The delete that is asked about, as admission would see it; None for any other verb.

        It has no uid, no object and no options: none of them is known here.
        """
        if self.gvr is None or self.subresource:
            return None
        extent: Extent
        if self.verb == "deletecollection":
            extent = Collection(self.selector, self.fields)
        elif self.verb == "delete":
            extent = One()
        else:
            return None
        return Request(
            uid="",
            operation=Operation.DELETE,
            gvr=self.gvr,
            # The kind is not told; whoever needs it knows it by the resource.
            gvk=Gvk(self.gvr.group, self.gvr.version, ""),
            namespace=self.namespace,
            name=self.name,
            user=self.user,
            extent=extent,
        )


class _Requirement(msgspec.Struct, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class _Selector(msgspec.Struct, rename="camel", gc=False):
    raw_selector: str = ""
    requirements: tuple[_Requirement, ...] | None = None


class _Attributes(msgspec.Struct, rename="camel", gc=False):
    namespace: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    field_selector: _Selector | None = None
    label_selector: _Selector | None = None


class _Path(msgspec.Struct, gc=False):
    path: str = ""
    verb: str = ""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    resource_attributes: _Attributes | None = None
    non_resource_attributes: _Path | None = None
    user: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...] | None] | None = None
    uid: str = ""


class _Review(msgspec.Struct, rename="camel", gc=False):
    spec: _Spec
    api_version: str = ""
    kind: str = ""


_decoder = msgspec.json.Decoder(_Review)


def decode_access(body: bytes) -> AccessAsked:
    """Read a SubjectAccessReview.

    A Namespace is cluster-scoped here, though it is asked about in its own namespace.
    Errors: `ReviewError` for anything that is not a review, or asks about nothing.
    """
    try:
        review = _decoder.decode(body)
    except UNREADABLE as error:
        refuse(error)
    if review.kind != KIND or review.api_version != API_VERSION:
        raise ReviewError(
            "apiVersion", f"is `{review.api_version} {review.kind}`, not `{API_VERSION} {KIND}`"
        )
    spec = review.spec
    user = User(spec.user, spec.uid, spec.groups, spec.extra).info()
    asked, path = spec.resource_attributes, spec.non_resource_attributes
    if asked is None:
        if path is None:
            raise ReviewError("spec", "asks about neither a resource nor a path")
        return AccessAsked(verb=path.verb, user=user, path=path.path)
    gvr = Gvr(asked.group, asked.version, asked.resource)
    return AccessAsked(
        verb=asked.verb,
        user=user,
        gvr=gvr,
        subresource=asked.subresource,
        namespace="" if gvr.resource == NAMESPACES else asked.namespace,
        name=asked.name,
        selector=_selector(asked.label_selector),
        fields=_selector(asked.field_selector) or Selector(),
    )


def _selector(found: _Selector | None) -> Selector | None:
    if found is None:
        return None
    if found.requirements:
        # WHY leaving out what is not understood: it selects more then, never less, as the API's
        # own documentation asks of authorizers.
        return Selector(
            tuple(
                Requirement(one.key, Operator(one.operator), tuple(sorted(one.values or ())))
                for one in found.requirements
                if one.operator in _OPERATORS
            )
        )
    try:
        # The API server sends requirements; only a hand-made review has the text alone.
        return parse_selector(found.raw_selector)
    except InputError:
        return Selector()


_OPERATORS = frozenset(Operator)


# ---------------------------------------------------------------- the answer


class Access(StrEnum):
    """What the API server is told. Without an opinion, the next authorizer decides."""

    ALLOWED = "allowed"
    DENIED = "denied"
    NO_OPINION = "no opinion"


class _Status(msgspec.Struct, omit_defaults=True):
    allowed: bool
    denied: bool = False
    reason: str = ""


class _Answer(msgspec.Struct, rename="camel"):
    status: _Status
    api_version: str = API_VERSION
    kind: str = KIND


_encoder = msgspec.json.Encoder()


def encode_access(access: Access, reason: str = "") -> bytes:
    """Write the answer, which always goes out with HTTP 200.

    WHY always: for any other status the API server asks again and again, seconds for every call.
    """
    return _encoder.encode(
        _Answer(_Status(access is Access.ALLOWED, access is Access.DENIED, reason))
    )
