"""What a scenario file may hold: the values that it is read into.

Lives apart from `reading` so that the format is one page: these structs make the JSON Schema, its
descriptions and the field names that errors suggest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from suture.lab.scenarios.choosing import Closed, Meant, Select, listed, meants, selection
from suture.lab.scenarios.durations import seconds
from suture.model.names import Propagation

Kind = Literal["incident", "benign"]
Verb = Literal[
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "evict",
    "scale",
    "wait",
]
PatchType = Literal["merge", "json", "strategic", "apply"]
ActorStage = Literal["observe", "warn", "enforce", "none"]
Until = Literal["exists", "gone", "ready", "bound", "complete", "established", "terminating"]
Verdict = Literal["stopped", "bounded", "missed", "passed", "disturbed"]
Detectable = Literal["before", "nth", "partial"]
Family = Literal["closure", "justify", "floor", "pace", "tenure", "reach", "capacity"]

Names = Annotated[
    tuple[str, ...] | str,
    Meta(
        description="One name or a list. `{0..29}` and `{red,blue}` stand for several; "
        "`{i}` is the number of the write, from 0 (`{i+1}` from 1, `{i:03}` padded). "
        "Inside [ ] YAML wants such names in quotes."
    ),
]
Duration = Annotated[
    str | int | float,
    Meta(description="A span of time: `90s`, `5m`, `1h30m`; a bare number is seconds."),
]
Body = Annotated[
    dict[str, Any],
    Meta(description="The object, as JSON or YAML; `{i}` counts in every string of it."),
]


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What every API server reads of any object's metadata; a patch takes off what is null."""

    name: str | None = None
    namespace: str | None = None
    labels: dict[str, str | None] | None = None
    annotations: dict[str, str | None] | None = None
    finalizers: list[str] | None = None
    ownerReferences: list[dict[str, Any]] | None = None  # noqa: N815 - the field's own word


class Patch(Closed, frozen=True, kw_only=True):
    """A change to an object."""

    value: Annotated[Any, Meta(description="The patch; for `json` a list of operations.")]
    type: Annotated[
        PatchType | None,
        Meta(description="Default: `json` for a list, else `merge`. `apply` is server-side apply."),
    ] = None

    @property
    def kind(self) -> PatchType:
        """The patch's type, its default included."""
        return self.type or ("json" if isinstance(self.value, list) else "merge")


class Preconditions(Closed, frozen=True, kw_only=True):
    """What must still be true when a delete arrives; else the API server answers a conflict."""

    uid: Annotated[
        str | None, Meta(description="A uid, or `live`: the one that the object was listed with.")
    ] = None
    resourceVersion: Annotated[  # noqa: N815 - the field's own word
        str | None, Meta(description="A version, or `live`.")
    ] = None


class Options(Closed, frozen=True, kw_only=True):
    """How a write is done."""

    propagationPolicy: Propagation | None = None  # noqa: N815 - the field's own word
    gracePeriodSeconds: Annotated[int, Meta(ge=0)] | None = None  # noqa: N815 - the field's own word
    preconditions: Preconditions | None = None
    fieldManager: str | None = None  # noqa: N815 - the field's own word
    force: Annotated[bool, Meta(description="Take fields from other managers (apply).")] = False
    dryRun: Annotated[bool, Meta(description="Ask only; nothing is kept.")] = False  # noqa: N815 - the field's own word


class Actor(Closed, frozen=True, kw_only=True):
    """Who writes; exactly one identity: a serviceAccount, a user, groups alone, or a controller.

    Every actor but a controller has all rights on the cluster: what stops it is Suture alone.
    """

    serviceAccount: Annotated[  # noqa: N815 - the field's own word
        str | None,
        Meta(
            description="`NAMESPACE/NAME`; created with its namespace when missing. "
            "It writes with a token of its own."
        ),
    ] = None
    user: Annotated[str | None, Meta(description="A user's name, with `groups` when given.")] = None
    groups: Annotated[
        tuple[str, ...] | str,
        Meta(description="Groups of the user; alone they enrol everybody in them."),
    ] = ()
    controller: Annotated[
        str | None,
        Meta(
            description="A controller of kube-system, by name. On the lab it is never scripted: "
            "its steps wait until it has really acted."
        ),
    ] = None
    stage: Annotated[
        ActorStage,
        Meta(
            description="How far Suture enforces this actor; `none` enrols it not at all. Who "
            "carries out what others asked for, as the deployment-controller, has none."
        ),
    ] = "enforce"
    note: str = ""


class Step(Closed, frozen=True, kw_only=True):
    """Writes of one actor, one after another, or a wait.

    Which objects: each of `names` in each of `namespaces`, or what `select` lists at that moment.
    Where a name holds `{i}`, write number i goes to namespace i modulo their number.
    """

    by: Annotated[str, Meta(description="An actor's name.")] = ""
    verb: Annotated[
        Verb | None,
        Meta(
            description="`delete` with `select` lists, then deletes each; `deletecollection` is "
            "one call per namespace; `update` reads, changes and replaces; `evict` and `scale` "
            "use the subresource."
        ),
    ] = None
    resource: Annotated[
        str,
        Meta(
            description="plural.group, with a subresource where wanted.",
            examples=["services", "deployments.apps/scale", "pods/eviction"],
        ),
    ] = ""
    namespaces: Annotated[
        tuple[str, ...] | str | Select | None,
        Meta(description="Names, `all`, or a selector. Leave out for what is cluster-scoped."),
    ] = None
    names: Names | None = None
    select: Annotated[
        Select | str | None,
        Meta(description="`all`, labels as kubectl writes them, or labels and fields apart."),
    ] = None
    body: Annotated[
        Body | None,
        Meta(
            description="create: the object. update: the whole object if it has apiVersion and "
            "kind, else what to change in it (null removes). scale: `{replicas: n}` will do."
        ),
    ] = None
    patch: Patch | None = None
    replicas: Annotated[int, Meta(ge=0)] | None = None
    options: Options = Options()
    n: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="How often each name is written, `{i}` counting; with `select` at most "
            "that many objects. Default: once, and all that is selected.",
        ),
    ] = None
    over: Annotated[
        Duration | None,
        Meta(
            description="The time over which the writes are spread evenly; none: as fast as they "
            "are answered. For a wait with `until`: how long at most."
        ),
    ] = None
    parallel: Annotated[
        int, Meta(ge=1, le=64, description="How many writes may be under way at once.")
    ] = 1
    guilty: Annotated[
        bool | None,
        Meta(
            description="Whether this step does the harm. In an incident where no step says so, "
            "all that write are."
        ),
    ] = None
    follows: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(
            description="The number of an earlier step, from 0, of which this is the consequence: "
            "where no write of that was let through, this one does not happen.",
        ),
    ] = None
    until: Annotated[
        Until | None,
        Meta(description="wait: go on when every object named or selected is so."),
    ] = None
    wait: Annotated[
        Duration | None, Meta(description="The same as `verb: wait` with that `over`.")
    ] = None
    note: str = ""

    @property
    def resource_name(self) -> str:
        """The resource without its subresource."""
        return self.resource.partition("/")[0]

    @property
    def subresource(self) -> str:
        """The subresource, empty where there is none."""
        return self.resource.partition("/")[2]

    @property
    def name_list(self) -> list[str]:
        """The names, ranges written out."""
        return listed(self.names)

    @property
    def selection(self) -> Select | None:
        """What `select` means, or None when objects are named."""
        return selection(self.select)

    @property
    def everywhere(self) -> bool:
        """Whether all namespaces are meant."""
        return self.namespaces in ("all", ("all",))

    @property
    def namespace_list(self) -> list[str]:
        """The namespaces by name, ranges written out; empty for `all` and for a selector."""
        if self.everywhere or isinstance(self.namespaces, Select):
            return []
        return listed(self.namespaces)

    @property
    def over_s(self) -> float | None:
        """The step's span in seconds."""
        span = self.over if self.over is not None else self.wait
        return None if span is None else seconds(span)

    @property
    def writes(self) -> bool:
        """Whether the step writes at all."""
        return self.verb != "wait"


class Harm(Closed, frozen=True, kw_only=True):
    """What counts as harm: objects that existed before the first guilty step and are lost."""

    kinds: Annotated[
        tuple[str, ...] | str,
        Meta(description="Resources whose loss is counted, cluster-wide, by uid."),
    ] = ()
    meant: Annotated[
        tuple[Meant | str, ...] | Meant | str,
        Meta(
            description="Objects that may go: selectors, or `RESOURCE/NAME` and "
            "`RESOURCE/NAMESPACE/NAME`."
        ),
    ] = ()
    among: Annotated[
        tuple[Meant | str, ...] | Meant | str,
        Meta(
            description="Whose loss is counted, written as in `meant`; left out: all of the kinds. "
            "What the incident is about, where the rest of the cluster is only there beside it."
        ),
    ] = ()
    probes: Annotated[
        dict[str, Annotated[int, Meta(ge=0)]],
        Meta(description="Other harm by name, and how much of it is bearable."),
    ] = msgspec.field(default_factory=dict)

    @property
    def kind_list(self) -> list[str]:
        """The kinds as a list."""
        return listed(self.kinds)

    @property
    def meant_list(self) -> list[Meant]:
        """All that is meant, in one form."""
        return meants(self.meant)

    @property
    def among_list(self) -> list[Meant]:
        """All whose loss is counted, in one form; empty: no object is left out."""
        return meants(self.among)


class Expect(Closed, frozen=True, kw_only=True):
    """What must come out with the guard in enforce. Without a guard harm is expected."""

    verdict: Annotated[
        Verdict | tuple[Verdict, ...] | None,
        Meta(description="Default: stopped or bounded for an incident, passed for what is benign."),
    ] = None
    stopped_by: Annotated[
        tuple[str, ...] | str,
        Meta(description="Policies of which at least one must be named in a refusal."),
    ] = ()
    managed: Annotated[
        Verdict | tuple[Verdict, ...] | None,
        Meta(
            description="What comes out where the API server does not ask Suture at authorization "
            "and no static manifest stands; left out: the same."
        ),
    ] = None
    reason: Annotated[
        str, Meta(description="Why an incident is missed, or stopped late, for people.")
    ] = ""


class Cluster(Closed, frozen=True, kw_only=True):
    """What is there before the first step, besides what the lab itself holds."""

    like: Annotated[
        str,
        Meta(
            description="Another scenario file beside this one: its whole cluster comes first, "
            "so that a twin stands in the same world."
        ),
    ] = ""
    shapes: Annotated[
        Any,
        Meta(
            description="Populations by name; see `suture scenario shapes`. A list of "
            "`{shape: NAME, …}`, or a map of NAME to parameters or to a list of them."
        ),
    ] = ()
    files: Annotated[
        tuple[str | dict[str, Any], ...] | str,
        Meta(
            description="Manifests: paths beside this file (a folder, or `*` in a name, will do), "
            "or objects written out here. `status` is written too where it is given; an "
            "ownerReference without uid gets the live owner's."
        ),
    ] = ()


class Scenario(Closed, frozen=True, kw_only=True):
    """A written world with writes."""

    kind: Annotated[
        Kind,
        Meta(description="incident: the guilty writes must be stopped. benign: none refused."),
    ]
    steps: list[Step]
    actors: Annotated[dict[str, Actor], Meta(description="Who writes, by a name of your own.")] = (
        msgspec.field(default_factory=dict)
    )
    cluster: Cluster = Cluster()
    harm: Harm = Harm()
    expect: Expect = Expect()
    id: Annotated[str, Meta(description="A short mark of your own.")] = ""
    title: Annotated[str, Meta(description="One line that says what happens.")] = ""
    story: Annotated[str, Meta(description="What happened, for people.")] = ""
    source: Annotated[tuple[str, ...] | str, Meta(description="Where it is reported.")] = ""
    family: Annotated[
        Family | None, Meta(description="Which family of policies it examines first.")
    ] = None
    detectable: Annotated[
        Detectable | None,
        Meta(
            description="Of an incident: whether one write tells it (`before`), a budget does "
            "(`nth`), or only a part of it can be seen (`partial`)."
        ),
    ] = None
    twin_of: Annotated[str, Meta(description="The incident file of which this is the twin.")] = ""
    scaled: Annotated[str, Meta(description="What was made smaller than in life, and how.")] = ""
    inferred: Annotated[tuple[str, ...] | str, Meta(description="What no source states.")] = ""
    labels: Annotated[dict[str, str], Meta(description="Words for sorting files by.")] = (
        msgspec.field(default_factory=dict)
    )
    notes: Annotated[tuple[str, ...] | str, Meta(description="Anything else.")] = ""

    @property
    def guilty_steps(self) -> list[int]:
        """The numbers of the steps that do the harm."""
        if self.kind == "benign":
            return []
        said = [at for at, step in enumerate(self.steps) if step.guilty]
        if said or any(step.guilty is not None for step in self.steps):
            return said
        return [at for at, step in enumerate(self.steps) if step.writes]


ALIASES: Mapping[str, str] = {
    "description": "story",
    "sources": "source",
    "name": "title",
    "note": "notes",
}
"""Other words for what is for people only; read as these fields."""
