"""From a file to a scenario that makes sense, or to an error with file, line, field and advice.

Lives apart from `format`, whose structs say what a field may be; here is what fields mean to each
other: actors that are named, verbs that lack an object, shapes and paths that are not there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from suture.errors import DocumentError, InputError
from suture.lab.scenarios.choosing import Select, listed, selection
from suture.lab.scenarios.durations import seconds
from suture.lab.scenarios.expand import counts, fill
from suture.lab.scenarios.format import (
    ALIASES,
    Actor,
    Metadata,
    Scenario,
    Step,
)
from suture.lab.scenarios.manifests import bytes_of, from_files, from_shapes, trailing
from suture.lab.scenarios.probes import PROBES
from suture.lab.scenarios.shapes import Object
from suture.model.documents import Document, did_you_mean, read_as
from suture.model.documents import Path as Field
from suture.wire.yaml import read_documents

BUNDLED = Path(__file__).parent / "files"
"""The scenario files that come with Suture."""

VERBS = {"eviction": "evict", "replace": "update", "apply": "patch"}
"""Other words for verbs."""

# LIMIT: far above the largest bundled population (about 4,000 objects); a slip in a count.
MOST_OBJECTS = 50_000


@dataclass(frozen=True)
class Loaded:
    """A scenario, where it came from, and the objects of its cluster in the order written."""

    path: Path
    name: str
    scenario: Scenario
    objects: tuple[Object, ...]

    @property
    def digest(self) -> str:
        """Short mark of what happens: the world, the actors and the steps, and no prose."""
        scenario = self.scenario
        harm = msgspec.to_builtins(scenario.harm)
        # WHY not when it says nothing: recordings were made before it could be said.
        if not harm["among"]:
            del harm["among"]
        steps = [_plain(step) for step in scenario.steps]
        told = (self.objects, scenario.actors, steps, harm)
        return sha256(msgspec.json.encode(told, order="sorted")).hexdigest()[:16]


def _plain(step: Step) -> dict[str, Any]:
    """Return a step as it was before it could follow another, where it follows none."""
    found: dict[str, Any] = msgspec.to_builtins(step)
    if found["follows"] is None:
        del found["follows"]
    return found


def find(name: str) -> Path:
    """Return the file that a name means: a path, or a bundled scenario with or without suffix."""
    given = Path(name)
    if given.is_file():
        return given
    for candidate in (BUNDLED / given.name, BUNDLED / f"{given.name}.yaml"):
        if given.parent == Path() and candidate.is_file():
            return candidate
    known = [file.stem for file in sorted(BUNDLED.glob("*.yaml"))]
    if given.is_dir():
        raise InputError(f"`{name}` is a folder; name a file in it")
    raise InputError(f"there is no scenario file `{name}`{did_you_mean(given.stem, known)}")


def load(path: Path) -> Loaded:
    """Read a scenario file and everything that it names.

    Errors: DocumentError with line and field; InputError for a file that cannot be read at all.
    """
    documents = read_documents(bytes_of(path), str(path))
    if not documents:
        raise DocumentError(str(path), None, "", "is empty; a scenario has `kind` and `steps`")
    scenario = parse(documents[0])
    objects = [
        *_like(documents[0], scenario, path),
        *from_shapes(documents[0]),
        *from_files(documents[0], scenario, path.parent),
        *trailing(documents[1:]),
    ]
    if len(objects) > MOST_OBJECTS:
        raise documents[0].error(
            ("cluster",), f"holds {len(objects)} objects; {MOST_OBJECTS} is the most"
        )
    return Loaded(path, path.stem, scenario, tuple(objects))


def check_policies(loaded: Loaded, known: Collection[str]) -> None:
    """Check that whoever is to stop an incident is known. Errors: DocumentError."""
    [document, *_] = read_documents(bytes_of(loaded.path), str(loaded.path))
    for name in listed(loaded.scenario.expect.stopped_by):
        # WHY within: so it is compared with who did; what the API server asks itself has a prefix.
        if not any(name in one for one in known):
            problem = f"`{name}` is no policy in force{did_you_mean(name, known)}"
            raise document.error(("expect", "stopped_by"), problem)


def parse(document: Document) -> Scenario:
    """Return the scenario that a document holds, checked."""
    if not isinstance(document.value, dict):
        raise document.error((), "must be a map with `kind` and `steps`")
    scenario = read_as(_normal(document), Scenario)
    _check(document, scenario)
    return scenario


def _normal(document: Document) -> Document:
    """Return the document with words as the schema spells them: `deleteCollection` will do."""
    value = document.value
    if not isinstance(value, dict):
        return document
    normal = {ALIASES.get(str(key), str(key)): item for key, item in value.items()}
    if isinstance(value.get("steps"), list):
        normal["steps"] = [_normal_step(step) for step in value["steps"]]
    return Document(document.source, normal, document.marks)


def _normal_step(step: object) -> object:
    if not isinstance(step, dict) or not isinstance(step.get("verb"), str):
        return step
    verb = step["verb"].lower().replace("-", "").replace("_", "")
    normal = {**step, "verb": VERBS.get(verb, verb)}
    if verb == "apply" and "body" in step and "patch" not in step:
        normal["patch"] = {"type": "apply", "value": normal.pop("body")}
    return normal


def _check(document: Document, scenario: Scenario) -> None:
    if not scenario.steps:
        raise document.error(("steps",), "is empty; a scenario needs at least one step")
    for name, actor in scenario.actors.items():
        _check_actor(document, ("actors", name), actor)
    for at, step in enumerate(scenario.steps):
        _check_step(document, ("steps", at), step, scenario)
    if scenario.kind == "incident" and not scenario.guilty_steps:
        raise document.error(("steps",), "has no guilty step; mark the one that does the harm")
    for name in scenario.harm.probes:
        if name not in PROBES:
            problem = f"is not a known probe{did_you_mean(name, PROBES)}"
            raise document.error(("harm", "probes", name), problem)
    _attempt(document, ("harm", "kinds"), lambda: scenario.harm.kind_list)
    _attempt(document, ("harm", "meant"), lambda: scenario.harm.meant_list)
    _attempt(document, ("harm", "among"), lambda: scenario.harm.among_list)


def _check_actor(document: Document, at: Field, actor: Actor) -> None:
    given = [
        field
        for field, value in (
            ("serviceAccount", actor.serviceAccount),
            ("user", actor.user),
            ("controller", actor.controller),
        )
        if value
    ]
    if len(given) > 1:
        raise document.error((*at, given[1]), f"cannot be given beside `{given[0]}`")
    if not given and not actor.groups:
        raise document.error(at, "needs one of serviceAccount, user, groups, controller")
    if actor.groups and given and given[0] != "user":
        raise document.error((*at, "groups"), f"cannot be given beside `{given[0]}`")
    if actor.serviceAccount:
        account = actor.serviceAccount
        _attempt(document, (*at, "serviceAccount"), partial(account_of, account))


def account_of(text: str) -> tuple[str, str]:
    """Return namespace and name of a service account, however it is written."""
    plain = text.removeprefix("system:serviceaccount:").replace("/", ":")
    parts = plain.split(":")
    if len(parts) != 2 or not all(parts):
        raise InputError(f"`{text}` must be NAMESPACE/NAME")
    return parts[0], parts[1]


def _check_step(document: Document, at: Field, step: Step, scenario: Scenario) -> None:
    if step.verb is None and step.wait is None:
        raise document.error(at, "lacks the field `verb`")
    for field in ("over", "wait"):
        span = getattr(step, field)
        if span is not None:
            _attempt(document, (*at, field), partial(seconds, span))
    for field, names in (("names", step.names), ("namespaces", step.namespaces)):
        if isinstance(names, tuple | str):
            _attempt(document, (*at, field), partial(listed, names))
    if any(map(counts, step.namespace_list)):
        raise document.error(
            (*at, "namespaces"),
            "cannot count: list them, and write i of names that count goes to namespace i",
        )
    if step.follows is not None and step.follows >= int(at[-1]):
        raise document.error((*at, "follows"), "must be the number of an earlier step")
    if step.guilty and scenario.kind == "benign":
        raise document.error((*at, "guilty"), "has no place in a benign scenario")
    if step.verb in ("wait", None):
        _check_wait(document, at, step, scenario)
        return
    _check_by(document, at, step, scenario)
    if not step.resource:
        raise document.error(at, "lacks the field `resource`")
    if step.until is not None or step.wait is not None:
        field = "until" if step.until is not None else "wait"
        raise document.error((*at, field), f"belongs to a wait, not to `{step.verb}`")
    if step.names is not None and step.select is not None:
        raise document.error((*at, "select"), "cannot be given beside `names`")
    _check_content(document, at, step)
    _check_counter(document, at, step)


def _check_wait(document: Document, at: Field, step: Step, scenario: Scenario) -> None:
    if step.by:
        _check_by(document, at, step, scenario)
    if step.until is not None and not step.resource:
        raise document.error(at, "lacks the field `resource`: what is to be waited for")
    if step.until is None and step.over_s is None:
        raise document.error(at, "needs `over`, or `until` with a resource")


def _check_by(document: Document, at: Field, step: Step, scenario: Scenario) -> None:
    if not step.by:
        raise document.error(at, "lacks the field `by`: an actor's name")
    if step.by not in scenario.actors:
        hint = did_you_mean(step.by, scenario.actors)
        raise document.error((*at, "by"), f"`{step.by}` is not an actor of this file{hint}")


def _check_content(document: Document, at: Field, step: Step) -> None:
    parts: tuple[Field, ...] = (("body",), ("patch", "value"))
    for part in parts:
        metadata = (*at, *part, "metadata")
        # WHY here: offline nothing else asks whether labels are a map.
        if document.at(metadata) is not None:
            read_as(document, Metadata, metadata)
    match step.verb:
        case "create":
            if step.body is None:
                raise document.error(at, "lacks the field `body`: what is created")
            if step.select is not None and not step.subresource:
                raise document.error((*at, "select"), "has no meaning for `create`")
        case "update":
            if step.body is None and step.patch is None and step.replicas is None:
                raise document.error(at, "lacks the field `body` or `patch`: what is changed")
        case "patch":
            if step.patch is None and step.body is None and step.replicas is None:
                raise document.error(at, "lacks the field `patch`")
        case "scale":
            if replicas_of(step) is None:
                raise document.error(at, "lacks the field `replicas`")
        case "deletecollection":
            if step.names is not None:
                raise document.error(
                    (*at, "names"), "has no meaning for `deletecollection`; use `delete`"
                )
        case _:
            pass
    if step.verb not in ("create", "deletecollection") and not _names_something(step):
        raise document.error(at, "needs `names` or `select`: which objects")
    if step.verb in ("delete", "deletecollection", "evict"):
        for field in ("body", "patch", "replicas"):
            if getattr(step, field) is not None:
                raise document.error((*at, field), f"has no meaning for `{step.verb}`")


def _check_counter(document: Document, at: Field, step: Step) -> None:
    """Refuse `{i}` in the content of several names of one round: it is 0 in each of them."""
    names = step.name_list
    if len(names) < 2 or (step.n or 1) > 1 or counts(names):
        return
    given = {("body",): step.body, ("patch",): step.patch.value if step.patch else None}
    for field, value in given.items():
        if counts(value):
            raise document.error(
                (*at, *field),
                f"counts rounds with `{{i}}`, and there is one for all {len(names)} names, so that "
                f"it is 0 in each; write `names: NAME-{{i}}` and `n: {len(names)}`",
            )


def _names_something(step: Step) -> bool:
    if step.names is not None or step.select is not None:
        return True
    metadata = (step.body or {}).get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("name"))


def replicas_of(step: Step) -> int | None:
    """Return the number that a scale asks for, in whichever field it stands."""
    if step.replicas is not None:
        return step.replicas
    for given in (step.body, step.patch.value if step.patch else None):
        if isinstance(given, Mapping):
            spec = given.get("spec", given)
            found = spec.get("replicas") if isinstance(spec, Mapping) else None
            if isinstance(found, int):
                return found
    return None


def _attempt(document: Document, at: Field, read: Callable[[], object]) -> None:
    """Run what may find a value wrong, and say where the value stands."""
    try:
        read()
    except DocumentError:
        raise
    except InputError as error:
        raise document.error(at, str(error)) from None


# ------------------------------------------------------------------------------- the cluster


def _like(document: Document, scenario: Scenario, path: Path) -> tuple[Object, ...]:
    """Return the objects of the scenario file whose cluster this one takes over."""
    if not scenario.cluster.like:
        return ()
    other = path.parent / f"{scenario.cluster.like.removesuffix('.yaml')}.yaml"
    at: Field = ("cluster", "like")
    if not other.is_file():
        known = [file.stem for file in path.parent.glob("*.yaml")]
        hint = did_you_mean(scenario.cluster.like, known)
        raise document.error(at, f"names no scenario file beside this one{hint}")
    # WHY one step deep: a world is to be read in two files at most, and none leads back here.
    [first, *_] = read_documents(bytes_of(other), str(other)) or [document]
    if parse(first).cluster.like:
        raise document.error(at, "names a file that takes its own cluster over from another")
    return load(other).objects


def namespaces_of(scenario: Scenario) -> list[str]:
    """Return the namespaces that the file names itself: they are made when missing.

    Not those that a step makes before anything else names them: they are their maker's.
    """
    named: list[str] = []
    made: set[str] = set()
    for step in scenario.steps:
        named += [name for name in step.namespace_list if name not in made]
        if step.verb == "create" and step.resource_name == "namespaces":
            rounds = range(step.n or 1)
            names = {fill(one, i, "{run}") for one in step.name_list for i in rounds}
            made |= names - set(named)
    named += [
        account_of(actor.serviceAccount)[0]
        for actor in scenario.actors.values()
        if actor.serviceAccount
    ]
    return list(dict.fromkeys(named))


def selector_of(step: Step) -> Select | None:
    """Return what a step selects, None when it names its objects."""
    return selection(step.select)
