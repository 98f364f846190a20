"""One run of `suture check`: documents judged one by one, each in the company of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from suture.adapters.files import load_policies
from suture.adapters.snapshots import clock
from suture.adapters.sources import texts
from suture.app.sources import Gatherer
from suture.app.whatif import Questions, asker
from suture.cli.impact import Common
from suture.cli.impactbodies import Bodies, Changed
from suture.cli.modelsources import load
from suture.errors import DocumentError, SutureError
from suture.judge import World, judge
from suture.model.actor import Operators, Profile, Stage
from suture.model.graph import Graph
from suture.model.names import ObjectKey
from suture.policy.policyset import PolicySet
from suture.policy.rules import POLICY_ERROR, EnforcementAction, Point
from suture.verdict import Reason
from suture.wire.manifests import Found, read_manifests
from suture.wire.yaml import read_documents

CHECKER = "suture-check"
RESOURCE_LIST = ("config.kubernetes.io/v1", "ResourceList")

Level = Literal["error", "warning", "note"]
LEVELS: dict[EnforcementAction, Level] = {
    EnforcementAction.DENY: "error",
    EnforcementAction.WARN: "warning",
    EnforcementAction.DRYRUN: "note",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of one document. `file` and `line`: where the object is written."""

    level: Level
    policy: str
    code: str
    message: str
    key: ObjectKey
    api_version: str
    kind: str
    file: str
    line: int | None


@dataclass(slots=True)
class Checked:
    """Everything that a run found. `resource_list`: what came in as one, to be answered so."""

    objects: int = 0
    found: list[Finding] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    policies: PolicySet | None = None
    resource_list: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        files: Sequence[str],
        *,
        source: str | None,
        kubeconfig: Path | None,
        context: str | None,
        namespace: str | None,
        name: str | None,
        policies: Sequence[Path],
        pack: bool,
    ) -> Checked:
        """Check what some files hold."""
        checked = cls(policies=load_policies(policies, pack=pack))
        pieces = list(checked._pieces(files))
        if not pieces:
            return checked
        against = source is not None
        if against:
            graph = load(source, kubeconfig, context).graph
        else:
            gatherer = Gatherer("the documents", clock())
            for piece in pieces:
                gatherer.add(bytes(piece.body), piece.place)
            graph = gatherer.finish().graph
        common = Common(
            namespace=namespace, source=source or "-", kubeconfig=kubeconfig, context=context
        )
        checked._judge(pieces, graph, Bodies(graph, common), name or CHECKER, against=against)
        return checked

    def _pieces(self, files: Sequence[str]) -> Iterator[Found]:
        for name in files:
            for text, place in [(bytes(one[:]), where) for one, where in texts(name)]:
                yield from self._read(text, place)

    def _read(self, text: bytes, place: str) -> Iterator[Found]:
        whole = _resource_list(text, place)
        if whole is not None:
            self.resource_list = whole
            text = msgspec.json.encode({"kind": "List", "items": whole.get("items") or []})
        for piece in read_manifests(text, place):
            match piece:
                case DocumentError():
                    self.problems.append(str(piece))
                case Found():
                    yield piece

    def _judge(
        self, pieces: Sequence[Found], graph: Graph, bodies: Bodies, name: str, *, against: bool
    ) -> None:
        policies = self.policies
        if policies is None:
            raise AssertionError("a run has its policies")
        user = asker(name)
        profile = Profile(user.username, users=(user.username,), stage=Stage.ENFORCE)
        world = World(policies=policies, graph=graph, operators=Operators([profile]))
        actor, questions, now = world.operators.attribute(user), Questions(graph, user), clock()
        bodies.learn(pieces)
        for piece in pieces:
            try:
                changed = _changed(piece, graph, bodies, against=against)
            except SutureError as error:
                self.problems.append(f"{piece.place}: {error}")
                continue
            self.objects += 1
            request = questions.update(changed.old, changed.new, "", bodies=changed.bodies)
            judgement = judge(request.requests[0], actor, world, now, Point.CHECK)
            said: list[tuple[Reason, Level]] = [
                (
                    Reason(one.code, one.constraint, one.message),
                    "warning" if one.code == POLICY_ERROR else LEVELS[one.enforcement],
                )
                for one in judgement.findings.violations
            ]
            codes = {reason.code for reason, _ in said}
            said += [(one, "error") for one in judgement.verdict.reasons if one.code not in codes]
            for reason, level in said:
                self.found.append(_finding(level, reason, changed.new.key, piece))
            graph.put(changed.new)


def _finding(level: Level, reason: Reason, key: ObjectKey, piece: Found) -> Finding:
    """Return a finding with the place of its document."""
    file, _, line = piece.place.rpartition(":")
    located = line.isdigit()
    return Finding(
        level=level,
        policy=reason.constraint,
        code=reason.code,
        message=reason.message,
        key=key,
        api_version=piece.head.api_version,
        kind=piece.head.kind,
        file=file if located else piece.place,
        line=int(line) if located else None,
    )


def _changed(piece: Found, graph: Graph, bodies: Bodies, *, against: bool) -> Changed:
    """Return what applying a document changes; alone with its like it is new."""
    if not against:
        key = bodies.key(piece)
        if graph.row(key) is not None:
            graph.remove(key)
    return bodies.applied(piece)


def _resource_list(text: bytes, place: str) -> dict[str, Any] | None:
    """Return a KRM ResourceList whole; None for anything else."""
    if b"ResourceList" not in text:
        return None
    documents = read_documents(text, place)
    value = documents[0].value if len(documents) == 1 else None
    if isinstance(value, dict) and (value.get("apiVersion"), value.get("kind")) == RESOURCE_LIST:
        return value
    return None
