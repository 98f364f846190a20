"""Lines of an audit log: bytes to recorded writes.

Pure. Most lines of a log are reads; they are told by their verb, before anything is decoded. Of
the rest no body is looked into here, and those that nobody reads are not even kept.
Source: audit.k8s.io/v1 Event and Policy. The API server writes one event a line, its fields in the
order of the Go struct.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from urllib.parse import parse_qs

import msgspec

from suture.errors import InputError
from suture.model.actor import UserInfo
from suture.model.names import LEASES, NAMESPACES, Gvr, ObjectKey, Resource
from suture.model.selectors import Selector, parse_selector
from suture.wire.interned import Interned
from suture.wire.oddities import UNREADABLE
from suture.wire.shapes import ABSENT
from suture.wire.users import USERS, read_user

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
READS = frozenset({b"get", b"list", b"watch", b"head", b"options", b"proxy", b"post"})
"""The verbs of what changes nothing, as they stand in a line."""
DONE = "ResponseComplete"
CREATED = 201
HEAD_BYTES = 4096
"""LIMIT: where the verb of an event stands; before it are an id, a stage and the request's URI."""

SPARED = frozenset(
    {
        LEASES,
        Resource("", "events"),
        Resource("events.k8s.io", "events"),
        Resource("authentication.k8s.io", "tokenreviews"),
        Resource("authorization.k8s.io", "subjectaccessreviews"),
        Resource("authorization.k8s.io", "selfsubjectaccessreviews"),
    }
)
"""Never judged on a cluster either (lane 0), and nothing rests on what they hold."""

TOLD = frozenset({"", "status", "scale", "binding", "eviction"})
"""Subresources whose bodies tell something of the object; "" is the object itself."""

TYPES = 4096
"""LIMIT: endpoints remembered; clusters serve 1,000 kinds at most."""

_VERB = b'"verb":"'


class Level(StrEnum):
    """How much of a request the audit policy had recorded."""

    METADATA = "Metadata"
    REQUEST = "Request"
    REQUEST_RESPONSE = "RequestResponse"


class Write(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One write as a log tells of it. Bodies are empty where the level leaves them out.

    They are, too, where nobody reads them: of what is spared, of dry runs, of subresources that
    tell nothing. `selector` None: a collection without one. `time_s` is when the request came,
    since the epoch.
    """

    audit_id: str
    level: Level
    time_s: float
    verb: str
    user: UserInfo
    gvr: Gvr
    key: ObjectKey
    """Where its object is found; the name is empty where only the server's answer tells it."""
    subresource: str
    uid: str
    code: int
    dry_run: bool
    persisted: bool
    """Whether the API server did it."""
    spared: bool
    """Whether its type is never judged."""
    selector: Selector | None
    fields: Selector
    request: bytes
    response: bytes

    @property
    def namespace(self) -> str:
        """The namespace that was written to; empty for what is in none."""
        return self.key.namespace

    @property
    def name(self) -> str:
        """The name that was written to."""
        return self.key.name

    @property
    def creates(self) -> bool:
        """Whether it made its object: a create, or an apply or update of what was not there."""
        return not self.subresource and (self.verb == "create" or self.code == CREATED)


class Skipped(StrEnum):
    """Why an event is no recorded write."""

    READ = "read"
    STAGE = "stage"
    """Not the last stage of its request: the same one comes again."""
    NO_OBJECT = "no object"
    """A path that is no resource (`/healthz`)."""


class AuditLineError(InputError):
    """A line that is no audit event."""

    code = "audit_line_malformed"


class _ObjectRef(msgspec.Struct, rename="camel", gc=False):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""
    api_version: str = ""
    subresource: str = ""


class _Status(msgspec.Struct, gc=False):
    code: int = 0


class _Event(
    msgspec.Struct,
    rename={
        "audit_id": "auditID",
        "uri": "requestURI",
        "impersonated": "impersonatedUser",
        "ref": "objectRef",
        "status": "responseStatus",
        "request": "requestObject",
        "response": "responseObject",
        "received": "requestReceivedTimestamp",
    },
    gc=False,
):
    level: Level
    stage: str
    verb: str
    audit_id: str = ""
    uri: str = ""
    user: msgspec.Raw = ABSENT
    impersonated: msgspec.Raw = ABSENT
    ref: _ObjectRef | None = None
    status: _Status | None = None
    request: msgspec.Raw = ABSENT
    response: msgspec.Raw = ABSENT
    received: datetime | None = None


class _List(msgspec.Struct, gc=False):
    items: list[msgspec.Raw]


_decoder = msgspec.json.Decoder(_Event)
_list_decoder = msgspec.json.Decoder(_List)


def is_list(text: bytes) -> bool:
    """Whether a document is an EventList, as a webhook backend is sent, and not one event."""
    return b'"EventList"' in text[:200]


def events_of(text: bytes) -> Iterator[bytes]:
    """Yield the events of an EventList. Errors: AuditLineError."""
    try:
        found = _list_decoder.decode(text)
    except UNREADABLE as error:
        raise AuditLineError(f"is no EventList: {error}") from error
    for item in found.items:
        yield bytes(item)


class EventDecoder:
    """Reads the events of a log, sharing what many of them have in common: users and endpoints."""

    def __init__(self) -> None:
        self._users = Interned(read_user, USERS)
        self._types: dict[tuple[str, str, str], tuple[Gvr, Resource]] = {}

    def decode(self, line: bytes) -> Write | Skipped:
        """Read one event. Errors: AuditLineError for what is none."""
        if _verb(line) in READS and line.endswith(b"}"):
            return Skipped.READ
        try:
            event = _decoder.decode(line)
            if event.verb not in WRITES:
                return Skipped.READ
            if event.stage != DONE:
                return Skipped.STAGE
            if event.ref is None or not event.ref.resource:
                return Skipped.NO_OBJECT
            user = self._user_of(event)
        except UNREADABLE as error:
            raise AuditLineError(f"is no audit event: {error}") from error
        if event.received is None:
            raise AuditLineError("has no `requestReceivedTimestamp`")
        return self._write(event, event.ref, event.received, user)

    def _user_of(self, event: _Event) -> UserInfo:
        if event.impersonated is not ABSENT and (raw := bytes(event.impersonated)) != b"null":
            return self._users.get(raw)
        return UserInfo("") if event.user is ABSENT else self._users.get(bytes(event.user))

    def _write(self, event: _Event, ref: _ObjectRef, received: datetime, user: UserInfo) -> Write:
        gvr, resource = self._type(ref)
        uri, selector, fields = event.uri, None, Selector()
        if event.verb == "deletecollection":
            query = _query(uri)
            selector = _selector(query, "labelSelector")
            fields = _selector(query, "fieldSelector") or Selector()
        dry_run = "dryRun" in uri and "dryRun" in _query(uri)
        spared = resource in SPARED
        told = not spared and not dry_run and ref.subresource in TOLD
        code = event.status.code if event.status is not None else 0
        namespace = "" if resource == NAMESPACES else ref.namespace
        return Write(
            audit_id=event.audit_id,
            level=event.level,
            time_s=received.timestamp(),
            verb=event.verb,
            user=user,
            gvr=gvr,
            key=ObjectKey(resource, namespace, ref.name),
            subresource=ref.subresource,
            uid=ref.uid,
            code=code,
            dry_run=dry_run,
            persisted=200 <= code < 300 and not dry_run,
            spared=spared,
            selector=selector,
            fields=fields,
            request=_body(event.request) if told else b"",
            response=_body(event.response) if told else b"",
        )

    def _type(self, ref: _ObjectRef) -> tuple[Gvr, Resource]:
        asked = ref.api_group, ref.api_version, ref.resource
        found = self._types.get(asked)
        if found is None:
            if len(self._types) >= TYPES:
                self._types.clear()
            found = self._types[asked] = Gvr(*asked), Resource(ref.api_group, ref.resource)
        return found


def _verb(line: bytes) -> bytes:
    """Return the verb by its place in the text; empty where it is not where Go writes it."""
    at = line.find(_VERB, 0, HEAD_BYTES)
    if at < 0:
        return b""
    begin = at + len(_VERB)
    return line[begin : line.find(b'"', begin)]


def _query(uri: str) -> dict[str, list[str]]:
    _, mark, query = uri.partition("?")
    return parse_qs(query) if mark else {}


def _selector(query: dict[str, list[str]], name: str) -> Selector | None:
    text = query.get(name)
    if not text:
        return None
    try:
        return parse_selector(text[0])
    except InputError:
        # WHY everything: what cannot be read must not look narrower than it may have been.
        return Selector()


def _body(raw: msgspec.Raw) -> bytes:
    body = bytes(raw)
    return b"" if body == b"null" else body
