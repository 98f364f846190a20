"""What would happen: questions about changes, each answered by the code that judges live.

A question becomes the requests that a client would send. They are judged in order on a model of
one's own: what an earlier one takes away or makes is so for the later ones. Nothing is sent
anywhere. Here because it is an order of steps; reads no file and no cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from suture.app.impactpicture import picture
from suture.errors import InputError
from suture.impact.effects import VICTIMS_NAMED, Effect, Impact
from suture.impact.effects.severity import Severity
from suture.impact.estimate import estimate
from suture.impact.ground.cascade import closure, default_propagation
from suture.impact.ground.change import Change
from suture.impact.project import project
from suture.impact.words.graded import severity
from suture.judge import World, judge
from suture.model.actor import Operators, Profile, Stage, UserInfo
from suture.model.boxes import Neighbourhood
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.kindnames import kind_of
from suture.model.names import PODS, Gvk, Gvr, ObjectKey, Operation, Propagation, Resource
from suture.model.objects import ClusterObject, NodeFacts, WorkloadFacts
from suture.model.request import Collection, DeleteOptions, Request
from suture.model.selectors import Selector
from suture.policy.policyset import PolicySet
from suture.verdict import Verdict

ASKER = "suture-impact"
"""The user in whose name a question is asked that names none."""

JUDGED = 5_000
"""LIMIT: requests of one question that are judged one by one, about half a second; the impact is
that of all of them, and a first refusal comes far earlier, where there is one."""


class QuestionError(InputError):
    """A question that cannot be answered as it is put."""

    code = "question_unanswerable"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A change that somebody thinks of: a title for people, and the requests that it takes.

    `together`: the requests are one step to whoever sends them (`kubectl delete svc a b c`), and
    the impact is told of all at once.
    """

    title: str
    requests: tuple[Request, ...]
    propagation: Propagation | None = None
    together: bool = False
    place: str = ""
    """Where it is written, as `FILE:LINE`; empty for a question by command line."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The first request of a question that would be refused; `number` from one."""

    number: int
    of: int
    key: ObjectKey
    verdict: Verdict


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a question's change would do, worst first, and whether the policies let it pass.

    `removed` counts all objects that would be gone. `picture` None: nothing is to be drawn.
    """

    question: Question
    removed: int
    impact: Impact
    severity: Severity
    refusal: Refusal | None
    warnings: tuple[str, ...]
    judged: int
    picture: Neighbourhood | None
    versions: Mapping[Resource, str] = {}
    """The API version of each type that would lose objects: nothing may be left to ask."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects, the gravest first."""
        return self.impact.effects


class Asker:
    """Answers questions on one graph, which it changes as the questions' changes would."""

    def __init__(
        self,
        graph: Graph,
        policies: PolicySet,
        user: UserInfo,
        *,
        limit: int = VICTIMS_NAMED,
        now: Now,
    ) -> None:
        profile = Profile(user.username, users=(user.username,), stage=Stage.ENFORCE)
        self._world = World(policies=policies, graph=graph, operators=Operators([profile]))
        self.actor = self._world.operators.attribute(user)
        self._limit = limit
        self._now = now

    @property
    def view(self) -> GraphView:
        """The graph as it is after the questions so far."""
        return self._world.view

    def ask(self, question: Question) -> Answer:
        """Answer a question, and have it happen in the model."""
        change = self._change(question)
        request = question.requests[0]
        impact = estimate(
            request,
            change,
            self.view,
            self.actor,
            now=self._now,
            evaluate=self._world.conditions,
            limit=self._limit,
        )
        ranked = sorted(impact.effects, key=severity, reverse=True)
        impact = msgspec.structs.replace(impact, effects=tuple(ranked))
        drawn = picture(self.view, change, ranked, self._world.graph.kinds)
        refusal, warnings, judged = self._judged(question.requests)
        answer = Answer(
            question=question,
            removed=len(change.removed),
            impact=impact,
            severity=max(map(severity, ranked), default=Severity.NONE),
            refusal=refusal,
            warnings=warnings,
            judged=judged,
            picture=drawn,
            versions=self._versions(change),
        )
        self._happen(question, change)
        return answer

    def _change(self, question: Question) -> Change:
        """Return the change of all requests of a question together."""
        changes = [project(request, self.view) for request in question.requests]
        if len(changes) == 1:
            return changes[0]
        direct = tuple(dict.fromkeys(row for one in changes for row in one.direct))
        named = frozenset(direct)
        asked = question.propagation or default_propagation(question.requests[0].gvr.resource)
        gone = closure(self.view, direct, orphan=asked is Propagation.ORPHAN)
        return Change(
            direct,
            tuple(row for row in gone if row not in named),
            evicted=any(one.evicted for one in changes),
            doubt=tuple(dict.fromkeys(doubt for one in changes for doubt in one.doubt)),
        )

    def _versions(self, change: Change) -> Mapping[Resource, str]:
        view, found = self.view, dict[Resource, str]()
        for row in change.removed:
            resource = view.resource(row)
            if resource not in found:
                found[resource] = view.at(row).gvk.version
        return found

    def _judged(self, requests: Sequence[Request]) -> tuple[Refusal | None, tuple[str, ...], int]:
        """Judge the requests in order until one is refused."""
        warnings: dict[str, None] = {}
        judged = requests[:JUDGED]
        for number, request in enumerate(judged, 1):
            verdict = judge(request, self.actor, self._world, self._now).verdict
            warnings.update(dict.fromkeys(verdict.warnings))
            if verdict.denies:
                refusal = Refusal(number=number, of=len(requests), key=request.key, verdict=verdict)
                return refusal, tuple(warnings), number
        return None, tuple(warnings), len(judged)

    def _happen(self, question: Question, change: Change) -> None:
        """Make the change in the model, refused or not: the questions that follow assume it."""
        graph, view = self._world.graph, self.view
        for row in change.removed:
            graph.remove(view.key(row), view.uid(row))
        for request in question.requests:
            if request.new is not None and not request.subresource:
                graph.put(request.new)


def asker(name: str, groups: Iterable[str] = ()) -> UserInfo:
    """Return the identity of a name: `NAMESPACE/NAME` is a service account, as is its user name."""
    namespace, slash, account = name.partition("/")
    if slash:
        name = f"system:serviceaccount:{namespace}:{account}"
    if name.startswith("system:serviceaccount:"):
        home = name.split(":")[2]
        groups = (
            *groups, "system:serviceaccounts", f"system:serviceaccounts:{home}",
            "system:authenticated",
        )  # fmt: skip
    return UserInfo(name, tuple(groups))


class Questions:
    """Makes questions about the objects of a graph, in somebody's name."""

    def __init__(self, graph: Graph, user: UserInfo) -> None:
        self._graph = graph
        self._user = user
        self._number = 0

    def delete(
        self, keys: Sequence[ObjectKey], propagation: Propagation | None, title: str
    ) -> Question:
        """Ask what the removal of objects would do."""
        options = DeleteOptions(propagation)
        requests = tuple(
            self._request(Operation.DELETE, self._there(key), old=True, options=options)
            for key in keys
        )
        return Question(title=title, requests=requests, propagation=propagation, together=True)

    def evict(self, keys: Sequence[ObjectKey], title: str) -> Question:
        """Ask what the eviction of pods would do."""
        for key in keys:
            if key.resource != PODS:
                raise QuestionError(f"`{key}` cannot be evicted: only pods can")
        requests = tuple(
            self._request(Operation.CREATE, self._there(key), subresource="eviction")
            for key in keys
        )
        return Question(title=title, requests=requests, together=True)

    def scale(self, key: ObjectKey, size: int, title: str) -> Question:
        """Ask what another size would do. Errors: QuestionError for what has no size."""
        thing = self._there(key)
        had = thing.facts.replicas if isinstance(thing.facts, WorkloadFacts) else None
        if had is None:
            raise QuestionError(f"`{key}` has no size that the model knows of")
        request = self._request(Operation.UPDATE, thing, subresource="scale")
        request = msgspec.structs.replace(request, scale_from=had, scale_to=size)
        return Question(title=title, requests=(request,))

    def restart(self, key: ObjectKey, title: str) -> Question:
        """Ask what another pod template would do, as `kubectl rollout restart` makes one."""
        thing = self._there(key)
        facts = thing.facts
        if not isinstance(facts, WorkloadFacts) or not facts.template_hash:
            raise QuestionError(f"`{key}` has no pod template to change")
        other = msgspec.structs.replace(facts, template_hash=facts.template_hash ^ 1)
        return self.update(thing, msgspec.structs.replace(thing, facts=other), title)

    def cordon(self, keys: Sequence[ObjectKey], title: str) -> tuple[Question, ...]:
        """Ask what closing nodes to new pods would do, one after another."""
        found = []
        for key in keys:
            thing = self._there(key)
            if not isinstance(thing.facts, NodeFacts):
                raise QuestionError(f"`{key}` cannot be cordoned: only nodes can")
            closed = msgspec.structs.replace(thing.facts, unschedulable=True)
            after = msgspec.structs.replace(thing, facts=closed)
            found.append(self.update(thing, after, title if len(keys) == 1 else f"cordon {key}"))
        return tuple(found)

    def collection(self, resource: Resource, namespace: str, selector: Selector | None) -> Request:
        """Return a `deletecollection` of a type, as authorization shows it."""
        self._number += 1
        kind = kind_of(resource, self._graph.kinds)
        return Request(
            uid=f"question-{self._number}",
            operation=Operation.DELETE,
            gvr=Gvr(resource.group, "v1", resource.plural),
            gvk=Gvk(resource.group, "v1", kind),
            namespace=namespace,
            user=self._user,
            extent=Collection(selector),
        )

    def update(
        self,
        old: ClusterObject | None,
        new: ClusterObject,
        title: str,
        *,
        bodies: tuple[bytes, bytes] = (b"", b""),
        place: str = "",
    ) -> Question:
        """Ask what an object's new form, or a new object, would do."""
        operation = Operation.CREATE if old is None else Operation.UPDATE
        request = msgspec.structs.replace(
            self._request(operation, new),
            old=old,
            new=new,
            old_body=bodies[0],
            new_body=bodies[1],
        )
        return Question(title=title, requests=(request,), place=place)

    def _there(self, key: ObjectKey) -> ClusterObject:
        row = self._graph.row(key)
        if row is None:
            raise QuestionError(f"`{key}` is not there")
        thing = self._graph.at(row)
        # WHY read out: a question may be asked after others have changed the graph.
        return msgspec.structs.replace(thing, needs=tuple(thing.needs))

    def _request(
        self,
        operation: Operation,
        thing: ClusterObject,
        *,
        old: bool = False,
        subresource: str = "",
        options: DeleteOptions = DeleteOptions(),  # noqa: B008 a frozen value
    ) -> Request:
        self._number += 1
        key, gvk = thing.key, thing.gvk
        return Request(
            uid=f"question-{self._number}",
            operation=operation,
            gvr=Gvr(key.resource.group, gvk.version, key.resource.plural),
            gvk=Gvk("policy", "v1", "Eviction") if subresource == "eviction" else gvk,
            subresource=subresource,
            namespace=key.namespace,
            name=key.name,
            user=self._user,
            old=thing if old else None,
            options=options,
        )


def kept(
    old: ClusterObject | None, new: ClusterObject, said: Mapping[str, object]
) -> ClusterObject:
    """Return what an object becomes where only the fields that a manifest says change.

    For models that keep no bodies: a size that is not said stays, labels and owners that are not
    said stay, and so does the life of the object.
    """
    if old is None:
        return new
    facts = new.facts
    spec = said.get("spec")
    silent = not isinstance(spec, Mapping) or "replicas" not in spec
    if isinstance(facts, WorkloadFacts) and isinstance(old.facts, WorkloadFacts) and silent:
        facts = msgspec.structs.replace(
            facts, replicas=old.facts.replicas, status_replicas=old.facts.status_replicas
        )
    return msgspec.structs.replace(
        new,
        uid=old.uid,
        labels={**old.labels, **new.labels},
        owners=new.owners or old.owners,
        finalizers=new.finalizers or old.finalizers,
        created=old.created,
        facts=old.facts if facts is None else facts,
        managers=old.managers,
    )
