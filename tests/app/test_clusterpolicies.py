"""Policies of the cluster beside those of files: in their place, or left out and told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suture.adapters.files import read_pack, read_policy_files
from suture.app.clusterpolicies import combine, documents_of, kinds_of
from suture.app.policyapply import definitions_for
from suture.app.status import Holds, policies_in_force
from suture.errors import NotFoundError
from suture.install.policies import constraints_path
from suture.model.documents import Document
from suture.policy.policyset import BoundConstraint, PolicySet
from suture.policy.rules import EnforcementAction, Point

OWN = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-policy" / "policy.yaml"


def listed(kind: str, *items: dict[str, Any]) -> tuple[Document, ...]:
    """Return objects as an API server lists them."""
    bodies = [
        {"metadata": {"resourceVersion": "7", **one["metadata"]}, **_rest(one)} for one in items
    ]
    return documents_of(json.dumps({"kind": f"{kind}List", "items": bodies}).encode(), kind)


def _rest(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "metadata"}


def share_budget(name: str = "share-budget", **spec: Any) -> dict[str, Any]:
    windows = [{"seconds": "1h", "count": 3}]
    return {"metadata": {"name": name}, "spec": {"parameters": {"windows": windows}, **spec}}


def named(policies: PolicySet) -> dict[str, BoundConstraint]:
    return {one.name: one for one in policies.constraints}


def test_a_constraint_takes_the_place_of_the_packs() -> None:
    """And one of another name stands beside it."""
    cluster = listed(
        "ShareBudget",
        share_budget(enforcementAction="dryrun"),
        share_budget("mine", match={"namespaces": ["shop"]}),
    )

    found = combine(read_pack(), cluster)

    assert not found.problems
    in_force = named(found.policies)
    assert in_force["share-budget"].enforcement[Point.ADMISSION] is EnforcementAction.DRYRUN
    assert in_force["mine"].source == "ShareBudget/mine"
    assert len(in_force) == len(named(combine(read_pack(), ()).policies)) + 1


def test_a_mistake_leaves_the_packs_own_in_force() -> None:
    """It is told with its field; what else the cluster says holds."""
    wrong = share_budget(parameters={"windows": [{"seconds": "soon", "count": 3}]})
    cluster = listed("ShareBudget", wrong, share_budget("mine"))

    found = combine(read_pack(), cluster)

    in_force = named(found.policies)
    assert in_force["share-budget"].source == "pack/share-budget.yaml"
    assert "mine" in in_force
    assert list(found.problems) == ["ShareBudget/share-budget"]
    assert "spec.parameters.windows[0].seconds" in found.problems["ShareBudget/share-budget"]


def test_a_template_that_breaks_constraints_of_the_pack_is_left_out() -> None:
    """Whoever replaces a template's logic must keep its parameters."""
    template = next(
        one for one in read_policy_files([OWN]) if one.at(("kind",)) == "PolicyTemplate"
    )
    spec = {**_spec(template), "constraintKind": "WebhookSafety"}
    cluster = listed("PolicyTemplate", {"metadata": {"name": "webhook-safety"}, "spec": spec})

    found = combine(read_pack(), cluster)

    assert named(found.policies).keys() == named(combine(read_pack(), ()).policies).keys()
    assert list(found.problems) == ["PolicyTemplate/webhook-safety"]


def test_a_policy_of_ones_own_comes_in_force() -> None:
    """Template and constraint, as the how-to writes them."""
    own = read_policy_files([OWN])
    cluster = [*_listed(own, "PolicyTemplate"), *_listed(own, "KeptObjects")]

    found = combine(read_pack(), cluster)

    assert not found.problems
    assert "kept-configuration" in named(found.policies)
    assert "KeptObjects" in kinds_of(cluster)


def test_a_kind_of_sutures_own_is_no_constraint() -> None:
    """Constraints are served under their kind's name, and these are taken."""
    own = _listed(read_policy_files([OWN]), "PolicyTemplate")[0]
    spec = {**_spec(own), "constraintKind": "ReferenceRules"}
    cluster = listed("PolicyTemplate", {"metadata": {"name": "x"}, "spec": spec})
    found = combine(read_pack(), cluster)
    assert "Suture's own" in found.problems["PolicyTemplate/x"]


def test_definitions_are_those_that_documents_need() -> None:
    """Of their own templates, and of the pack's whose kinds they bind."""
    budget = Document("f", {"kind": "ShareBudget", **share_budget()})
    found = definitions_for([*read_policy_files([OWN]), budget], read_pack())
    kinds = [one["spec"]["names"]["kind"] for one in found]
    assert kinds == ["PolicyTemplate", "ShareBudget", "KeptObjects"]
    schema = found[1]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    parameters = schema["properties"]["spec"]["properties"]["parameters"]["properties"]
    assert {"countOwn", "windows", "byResource", "dipWindows"} <= parameters.keys()
    assert '"default":' not in json.dumps(found)


def _listed(documents: Iterable[Document], kind: str) -> tuple[Document, ...]:
    found = [one.value for one in documents if one.at(("kind",)) == kind]
    return listed(kind, *(one for one in found if isinstance(one, dict)))


def _spec(document: Document) -> dict[str, Any]:
    spec = document.at(("spec",))
    assert isinstance(spec, dict)
    return spec


class Served:
    """An API server that serves share budgets, and no other kind of policy."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.items = items

    async def get_raw(self, path: str, *, query: dict[str, Any] | None = None) -> bytes:
        """Return them all."""
        if path != constraints_path("ShareBudget"):
            raise NotFoundError(404, "NotFound", f"{path} is not served")
        return json.dumps({"kind": "ShareBudgetList", "items": self.items}).encode()


async def test_the_status_tells_what_is_out_of_force() -> None:
    """A guarantee that does not hold, with the document and what is wrong with it."""
    wrong = share_budget("mine", parameters={"windows": [{"seconds": "soon", "count": 3}]})

    sound = await policies_in_force(Served(share_budget()), read_pack())
    broken = await policies_in_force(Served(share_budget(), wrong), read_pack())

    assert (sound.holds, sound.advice) == (Holds.YES, "")
    assert broken.holds is Holds.NO
    assert broken.advice.startswith("ShareBudget/mine is out of force: ")
    assert "`soon`" in broken.advice
