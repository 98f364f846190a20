"""AdmissionReview in, AdmissionReview out: what the API server posts becomes a `Request`.

Pure. The envelope is read by type and its objects are left as they are: most of a review is never
looked at. Source: admission.k8s.io/v1; what it looks like in life is in the conformance tests.
"""

from __future__ import annotations

from typing import Final, NoReturn

import msgspec

from suture.errors import ReviewError
from suture.model.actor import UserInfo
from suture.model.names import NAMESPACES, Gvk, Gvr, Operation, Propagation
from suture.model.objects import ClusterObject
from suture.model.request import CollectionItem, DeleteOptions, One, Request
from suture.verdict import Verdict
from suture.wire.interned import Interned
from suture.wire.oddities import UNREADABLE, TrimError
from suture.wire.readings import Both
from suture.wire.shapes import ABSENT
from suture.wire.trim import Reader, Trimmer

_CONNECT: Final = Operation.CONNECT
_DELETE: Final = Operation.DELETE
_UPDATE: Final = Operation.UPDATE
# WHY named: to ask an enum for a member costs four times as much, and each review asks often.

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

WARNINGS_CHARS = 4096
"""LIMIT: what the API server passes on of all warnings together; it cuts the rest itself, in the
middle of a word, so the last whole warning that fits is our end."""

STATUS_REASONS = {403: "Forbidden", 429: "TooManyRequests"}

OPTIONS = 256
"""LIMIT: options of deletes remembered as they are spelled, in two generations, 0.5 kB each: a
client sends the same with every delete, save where it names the object's life in them."""

DECISION_ID = "decision-id"
"""The audit annotation by which an audit line leads back to the journal."""


class _Kind(msgspec.Struct, gc=False):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Resource(msgspec.Struct, gc=False):
    group: str = ""
    version: str = ""
    resource: str = ""


class _Preconditions(msgspec.Struct, rename="camel", gc=False):
    uid: str | None = None
    resource_version: str | None = None


class Options(msgspec.Struct, rename="camel", gc=False):
    """The body of a delete, as anybody may send it. Source: meta/v1 DeleteOptions."""

    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    grace_period_seconds: int | None = None
    preconditions: _Preconditions | None = None

    def value(self) -> DeleteOptions:
        """Return it as a value."""
        before = self.preconditions or _Preconditions()
        return DeleteOptions(
            self.propagation(),
            self.grace_period_seconds,
            before.uid or "",
            before.resource_version or "",
        )

    def propagation(self) -> Propagation | None:
        """Return what becomes of dependents; None where it is not said in words that are known."""
        # SOURCE: meta/v1 DeleteOptions: only one of the two may be set; the older is still read.
        if self.orphan_dependents is not None:
            return Propagation.ORPHAN if self.orphan_dependents else Propagation.BACKGROUND
        try:
            return Propagation(self.propagation_policy) if self.propagation_policy else None
        except ValueError:
            return None


class _Request(msgspec.Struct, rename="camel", gc=False):
    uid: str
    kind: _Kind
    resource: _Resource
    operation: Operation
    user_info: msgspec.Raw
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    object: msgspec.Raw = ABSENT
    old_object: msgspec.Raw = ABSENT
    options: msgspec.Raw = ABSENT
    dry_run: bool | None = None


class _Review(msgspec.Struct, rename="camel", gc=False):
    request: _Request
    api_version: str = ""
    kind: str = ""


class _Eviction(msgspec.Struct, rename="camel", gc=False):
    delete_options: Options | None = None


class _ScaleSpec(msgspec.Struct, gc=False):
    replicas: int = 0


class _Scale(msgspec.Struct, gc=False):
    spec: _ScaleSpec | None = None


_review_decoder = msgspec.json.Decoder(_Review)
_options_decoder = msgspec.json.Decoder(Options)


def _read_options(raw: bytes) -> DeleteOptions:
    return _options_decoder.decode(raw).value()


_delete_options = Interned(_read_options, OPTIONS)
_eviction_decoder = msgspec.json.Decoder(_Eviction)
_scale_decoder = msgspec.json.Decoder(_Scale)

_trimmer = Trimmer(secret_keys=True)
"""WHY one of its own: sharing label sets with the mirror's is its owner's choice, by argument.
WHY with keys: a review shows a Secret whole, whatever may be listed; values are never kept."""


def decode_review(body: bytes, trimmer: Trimmer = _trimmer) -> Request:
    """Read an AdmissionReview.

    The name of an object of a `deletecollection`, which the review leaves out, is taken from the
    object; a Namespace is cluster-scoped here, though its review names it as its own namespace.
    Options are those of a delete or, inside the object, of an eviction; of other writes empty.
    Errors: `ReviewError` for anything that is not a review.
    """
    try:
        review = _review_decoder.decode(body)
    except UNREADABLE as error:
        refuse(error)
    if review.kind != KIND or review.api_version != API_VERSION:
        raise ReviewError(
            "apiVersion", f"is `{review.api_version} {review.kind}`, not `{API_VERSION} {KIND}`"
        )
    asked = review.request
    if not asked.uid:
        raise ReviewError("request.uid", "is empty")
    gvr = Gvr(asked.resource.group, asked.resource.version, asked.resource.resource)
    if not gvr.plural:
        raise ReviewError("request.resource", "names no resource")
    gvk = Gvk(asked.kind.group, asked.kind.version, asked.kind.kind)
    user = _user(asked.user_info, trimmer)
    new_body, old_body = _body(asked.object), _body(asked.old_object)
    resource = gvr.resource
    reader = trimmer.reader(resource, gvk)
    new = old = None
    changed: tuple[str, ...] | None = None
    if _rewrites(asked, old_body, new_body):
        # WHY apart: a reconcile that changes nothing comes with two equal bodies, and is usual.
        if old_body == new_body:
            new = old = _trimmed(reader, new_body, "object")
            changed = ()
        else:
            new, old, changed = _both(reader, new_body, old_body)
    # WHY not for CONNECT: its object is the options of the connection, which are no object.
    elif asked.operation is not _CONNECT:
        new = _trimmed(reader, new_body, "object")
        old = _trimmed(reader, old_body, "oldObject")
    collected = asked.operation is _DELETE and not asked.name
    scale = asked.sub_resource == "scale" and gvk.kind == "Scale"
    return Request(
        uid=asked.uid,
        operation=asked.operation,
        gvr=gvr,
        gvk=gvk,
        subresource=asked.sub_resource,
        namespace="" if resource == NAMESPACES else asked.namespace,
        name=asked.name or _name(old) or _name(new),
        user=user,
        extent=CollectionItem() if collected else One(),
        old=old,
        new=new,
        old_body=old_body,
        new_body=new_body,
        parts_changed=changed,
        scale_to=_replicas(new_body, "object") if scale else None,
        scale_from=_replicas(old_body, "oldObject") if scale else None,
        dry_run=bool(asked.dry_run),
        options=_options(asked, gvk, new_body),
    )


def refuse(error: Exception, within: str = "") -> NoReturn:
    """Raise what the decoder found as a `ReviewError` that names the field, where there is one.

    `within`: the field that was decoded by itself.
    """
    problem, found, path = str(error).rpartition(" - at `$.")
    if found:
        field = ".".join(filter(None, (within, path.rstrip("`"))))
        raise ReviewError(field, f"is malformed: {problem}") from error
    raise ReviewError(within, f"is malformed: {error}") from error


def _user(raw: msgspec.Raw, trimmer: Trimmer) -> UserInfo:
    try:
        return trimmer.users.get(bytes(raw))
    except UNREADABLE as error:
        refuse(error, "request.userInfo")


def _body(raw: msgspec.Raw) -> bytes:
    body = bytes(raw)
    return b"" if body == b"null" else body


def _trimmed(reader: Reader, body: bytes, field: str) -> ClusterObject | None:
    if not body:
        return None
    try:
        return reader.one(body)
    except TrimError as error:
        raise ReviewError(f"request.{field}", f"is malformed: {error}") from error


def _rewrites(asked: _Request, old_body: bytes, new_body: bytes) -> bool:
    """Whether an object is written anew: then its parts are compared."""
    if asked.operation is not _UPDATE or asked.sub_resource:
        return False
    return bool(old_body and new_body)


def _both(reader: Reader, new_body: bytes, old_body: bytes) -> Both:
    try:
        return reader.both(new_body, old_body)
    except TrimError:
        # WHY again: only then is it told which of the two is malformed.
        for body, field in ((new_body, "object"), (old_body, "oldObject")):
            _trimmed(reader, body, field)
        raise


def _name(thing: ClusterObject | None) -> str:
    return thing.key.name if thing is not None else ""


def _replicas(body: bytes, field: str) -> int | None:
    """Return the wish of a Scale. Go leaves zero out, so that absent is zero here."""
    if not body:
        return None
    try:
        scale = _scale_decoder.decode(body)
    except UNREADABLE as error:
        raise ReviewError(f"request.{field}.spec", f"is no scale: {error}") from error
    return scale.spec.replicas if scale.spec is not None else 0


def _options(asked: _Request, gvk: Gvk, new_body: bytes) -> DeleteOptions:
    field, options = "request.options", None
    try:
        if asked.operation is _DELETE:
            raw = _body(asked.options)
            return _delete_options.get(raw) if raw else DeleteOptions()
        if asked.sub_resource == "eviction" and gvk.kind == "Eviction" and new_body:
            field = "request.object.deleteOptions"
            options = _eviction_decoder.decode(new_body).delete_options
    except UNREADABLE as error:
        raise ReviewError(field, f"is malformed: {error}") from error
    return options.value() if options is not None else DeleteOptions()


# ---------------------------------------------------------------- the answer


class _Details(msgspec.Struct, rename="camel", omit_defaults=True):
    retry_after_seconds: int = 0


class _Status(msgspec.Struct, rename="camel", omit_defaults=True):
    code: int
    message: str
    reason: str = ""
    details: _Details | None = None


class _Response(msgspec.Struct, rename="camel", omit_defaults=True):
    uid: str
    allowed: bool
    status: _Status | None = None
    warnings: list[str] | None = None
    audit_annotations: dict[str, str] | None = None


class _Answer(msgspec.Struct, rename="camel"):
    response: _Response
    api_version: str = API_VERSION
    kind: str = KIND


_encoder = msgspec.json.Encoder()


def encode_review(uid: str, verdict: Verdict, decision_id: str) -> bytes:
    """Write the AdmissionReview that answers the one with this `uid`.

    A refusal carries its HTTP status and, where waiting helps, when to come again, which API
    clients obey. The decision id goes into the audit log whatever the answer is.
    """
    status = None
    if verdict.denies:
        retry_after_s = verdict.retry_after_s
        status = _Status(
            verdict.status,
            verdict.message,
            STATUS_REASONS.get(verdict.status, ""),
            _Details(retry_after_s) if retry_after_s else None,
        )
    return _encoder.encode(
        _Answer(
            _Response(
                uid,
                not verdict.denies,
                status,
                _fitting(verdict.warnings) or None,
                {DECISION_ID: decision_id} if decision_id else None,
            )
        )
    )


def _fitting(warnings: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    left = WARNINGS_CHARS
    for warning in warnings:
        left -= len(warning)
        if left < 0:
            break
        kept.append(warning)
    return kept
