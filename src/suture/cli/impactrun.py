"""One run of `suture impact`: the model, the questions in order, and what comes of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import which

from suture.adapters.files import load_policies
from suture.adapters.snapshots import clock
from suture.app.whatif import ASKER, Answer, Asker, Question, QuestionError, Questions, asker
from suture.cli.impact import EXIT_NOTABLE, EXIT_REFUSED, EXIT_SEVERE, Common
from suture.cli.impactbodies import Bodies, Changed
from suture.cli.impactview import Report, show
from suture.cli.modelsources import load
from suture.errors import DocumentError, InputError, SutureError
from suture.impact.effects import VICTIMS_NAMED
from suture.impact.effects.severity import Severity
from suture.model.kindnames import kind_in, resolve_object
from suture.model.names import DAEMON_SETS, NODES, PODS, ObjectKey, Propagation, Resource
from suture.model.objects import PodFacts
from suture.model.selectors import Selector, parse_selector
from suture.wire.manifests import Empty, Found, read_manifests

EVERY = sys.maxsize
EXIT_INPUT = 2

KUSTOMIZERS = (("kustomize", "build"), ("kubectl", "kustomize"))


class Run:
    """Questions of one command, asked one after another."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._loaded = load(common.source, common.kubeconfig, common.context)
        graph = self._loaded.graph
        user = asker(common.as_ or ASKER, common.group)
        limit = EVERY if common.victims == "all" else VICTIMS_NAMED
        self._asker = Asker(graph, load_policies(common.policies), user, limit=limit, now=clock())
        self._questions = Questions(graph, user)
        self._bodies = Bodies(graph, common)
        self._answers: list[Answer] = []
        self._problems: list[str] = []

    # ---- the verbs

    def apply(self, files: Sequence[str], kustomization: Path | None) -> None:
        """Ask what applying manifests would do, document by document."""
        found = list(self._documents(files))
        if kustomization is not None:
            found += self._pieces(_kustomized(kustomization), str(kustomization))
        self._bodies.learn(found)
        for piece in found:
            self._try(piece.place, lambda piece=piece: self._applied(piece))

    def _applied(self, piece: Found) -> None:
        changed = self._bodies.applied(piece)
        key = changed.new.key
        verb = "create" if changed.old is None else "apply"
        self._ask(self._update(changed, f"{verb} {key}", piece.place))

    def delete(
        self,
        things: Sequence[str],
        files: Sequence[str],
        *,
        selector: str | None,
        every: bool,
        propagation: str | None,
    ) -> None:
        """Ask what a delete would do, of all that is named at once."""
        manner = None if propagation is None else Propagation(propagation.capitalize())
        found = list(self._documents(files))
        self._bodies.learn(found)
        keys = [self._bodies.key(piece) for piece in found]
        if selector is not None or every:
            keys += self._matching(things, selector, every=every)
        elif things:
            keys += self._named(things)
        elif not files:
            raise InputError("nothing to delete: name KIND/NAME, or give -f FILE")
        if not keys:
            raise QuestionError("nothing there matches")
        title = f"delete {keys[0]}" if len(keys) == 1 else f"delete {_many(keys)}"
        self._try(title, lambda: self._ask(self._questions.delete(keys, manner, title)))

    def scale(self, things: Sequence[str], size: int) -> None:
        """Ask what another size would do."""
        for key in self._named(things):
            title = f"scale {key} to {size}"
            self._try(
                title,
                lambda key=key, title=title: self._ask(self._questions.scale(key, size, title)),
            )

    def restart(self, things: Sequence[str]) -> None:
        """Ask what a rollout would do."""
        for key in self._named(things):
            title = f"restart {key}"
            self._try(title, lambda key=key, title=title: self._ask(self._restart(key, title)))

    def patch(self, thing: str, patch: str, kind: str) -> None:
        """Ask what a patch would do."""
        (key,) = self._named([thing])
        changed = self._bodies.patched(key, patch, kind)
        self._ask(self._update(changed, f"patch {key}", ""))

    def evict(self, pods: Sequence[str]) -> None:
        """Ask what evictions would do, all together."""
        keys = self._named([one if "/" in one else f"pods/{one}" for one in pods])
        title = f"evict {keys[0]}" if len(keys) == 1 else f"evict {_many(keys)}"
        self._ask(self._questions.evict(keys, title))

    def cordon(self, nodes: Sequence[str]) -> None:
        """Ask what closing nodes would do."""
        for question in self._questions.cordon(self._nodes(nodes), "cordon " + ", ".join(nodes)):
            self._ask(question)

    def drain(self, nodes: Sequence[str]) -> None:
        """Ask what draining nodes would do, one after another."""
        for key in self._nodes(nodes):
            for question in self._questions.cordon([key], f"cordon {key}"):
                self._ask(question)
            pods = self._drained(key.name)
            if pods:
                self._ask(self._questions.evict(pods, f"drain {key}: evict {_many(pods)}"))

    def finish(self) -> int:
        """Show the answers; return the exit status."""
        report = Report(
            source=self._loaded.where,
            taken=self._loaded.taken,
            asked_as=self._asker.actor.user.username,
            answers=tuple(self._answers),
            problems=tuple(self._problems),
        )
        show(report, self._common, self._loaded)
        if self._problems:
            return EXIT_INPUT
        if any(one.refusal is not None for one in self._answers):
            return EXIT_REFUSED
        worst = max((one.severity for one in self._answers), default=Severity.NONE)
        return {Severity.NOTABLE: EXIT_NOTABLE, Severity.SEVERE: EXIT_SEVERE}.get(worst, 0)

    # ---- questions

    def _update(self, changed: Changed, title: str, place: str) -> Question:
        return self._questions.update(
            changed.old, changed.new, title, bodies=changed.bodies, place=place
        )

    def _restart(self, key: ObjectKey, title: str) -> Question:
        """Ask about a rollout: by the whole workload, or by what a snapshot keeps of it."""
        by_model = self._questions.restart(key, title)
        changed = self._bodies.restarted(key)
        return by_model if changed is None else self._update(changed, title, "")

    def _ask(self, question: Question) -> None:
        self._answers.append(self._asker.ask(question))

    def _try(self, where: str, ask: object) -> None:
        """Ask; what cannot be asked is one line of the report, and the rest goes on."""
        try:
            ask()  # type: ignore[operator]
        except SutureError as error:
            self._problems.append(f"{where}: {error}")

    # ---- what is meant

    def _documents(self, files: Sequence[str]) -> Iterable[Found]:
        for name in files:
            for text, place in _texts(name):
                yield from self._pieces(text, place)

    def _pieces(self, text: bytes, place: str) -> list[Found]:
        found = []
        for piece in read_manifests(text, place):
            match piece:
                case DocumentError():
                    self._problems.append(str(piece))
                case Found():
                    found.append(piece)
                case Empty():
                    continue
        return found

    def _named(self, things: Sequence[str]) -> list[ObjectKey]:
        """Return what `KIND/NAME ...` or `KIND NAME ...` means."""
        if things and "/" not in things[0]:
            kind, *names = things
            if not names:
                raise InputError(f"which {kind}? name them, or give --selector or --all")
            pairs = [(kind, name) for name in names]
        else:
            pairs = []
            for thing in things:
                kind, slash, name = thing.partition("/")
                if not (kind and slash and name):
                    raise InputError(f"`{thing}` must be KIND/NAME, like `deploy/web`")
                pairs.append((kind, name))
        if not pairs:
            raise InputError("nothing named: give KIND/NAME, like `deploy/web`")
        return [self._key(kind, name) for kind, name in pairs]

    def _key(self, kind: str, name: str) -> ObjectKey:
        graph = self._loaded.graph
        resource = kind_in(kind, graph)
        keys = (graph.key(row) for row in graph.rows(resource))
        unknown = self._asker.view.unknown(resource)
        return resolve_object(resource, name, self._common.namespace, keys, unknown=unknown)

    def _matching(
        self, things: Sequence[str], selector: str | None, *, every: bool
    ) -> list[ObjectKey]:
        if len(things) != 1:
            raise InputError("give one kind with --selector or --all")
        if every and selector is not None:
            raise InputError("give either --selector or --all, not both")
        graph = self._loaded.graph
        resource: Resource = kind_in(things[0], graph)
        wanted = Selector() if selector is None else parse_selector(selector)
        rows = graph.rows(resource, self._common.namespace)
        found = sorted(graph.key(row) for row in rows if wanted.matches(graph.labels(row) or {}))
        if not found and (unknown := self._asker.view.unknown(resource)):
            raise QuestionError(f"which {resource} are there is unknown: {unknown}")
        return found

    def _nodes(self, names: Sequence[str]) -> list[ObjectKey]:
        return self._named([one if "/" in one else f"nodes/{one}" for one in names])

    def _drained(self, node: str) -> list[ObjectKey]:
        """Return the pods that a drain of a node evicts."""
        view = self._asker.view
        row = view.find(ObjectKey(NODES, "", node))
        found = []
        for link in () if row is None else view.needed_by(row):
            if link.other.resource != PODS or not isinstance(view.facts(link.row), PodFacts):
                continue
            makers = [one for one in view.owners(link.row) if one.controller and one.present]
            if view.finished(link.row) or any(
                view.resource(one.row) == DAEMON_SETS for one in makers
            ):
                continue
            found.append(link.other)
        return sorted(found)


def _many(keys: Sequence[ObjectKey]) -> str:
    kinds = sorted({str(key.resource) for key in keys})
    return f"{len(keys):,} {', '.join(kinds)}"


def _texts(name: str) -> list[tuple[bytes, str]]:
    """Return what is to be read of a name: a file, a folder's files, or stdin."""
    from suture.adapters.sources import texts

    return [(bytes(text[:]), place) for text, place in texts(name)]


def _kustomized(folder: Path) -> bytes:
    """Return what a kustomization renders, by whichever program for it is here."""
    for program, verb in KUSTOMIZERS:
        if which(program) is None:
            continue
        done = subprocess.run([program, verb, str(folder)], capture_output=True, check=False)
        if done.returncode:
            why = done.stderr.decode(errors="replace").strip()
            raise InputError(f"`{program} {verb} {folder}` failed: {why}")
        return done.stdout
    raise InputError("neither kustomize nor kubectl is installed; render it, and give -f -")
