"""Paths into the API for whose certificate nobody would vouch any more."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import BALANCERS, crd, namespace, service, thing, view_of, webhook, workload
from suture.impact.effects import AdmissionPathBroken
from suture.model.names import API_SERVICES
from suture.model.objects import ApiServiceFacts, ClusterObject, CrdFacts, ServiceRef

LIVE, EMPTY = ServiceRef("prod", "web"), ServiceRef("prod", "empty")
WORLD = [namespace("prod"), *workload("web", replicas=2), service("web"), service("empty")]
BUNDLE = "LS0tLS1CRUdJTg=="
API = thing(API_SERVICES, "v1.m.io", facts=ApiServiceFacts("m.io", "v1", LIVE))


def converted(backend: ServiceRef = LIVE) -> ClusterObject:
    one = crd(conversion=backend)
    assert isinstance(one.facts, CrdFacts)
    return msgspec.structs.replace(
        one, facts=msgspec.structs.replace(one.facts, served_versions=("v1", "v2"))
    )


def hook(bundle: str, annotation: str = "") -> bytes:
    return written(
        annotation, webhooks=[{"name": "h.example.com", "clientConfig": {"caBundle": bundle}}]
    )


def conversion(bundle: str, annotation: str = "") -> bytes:
    called = {"webhook": {"clientConfig": {"caBundle": bundle}}}
    return written(annotation, spec={"conversion": called})


def api(bundle: str, *, blind: bool = False) -> bytes:
    return written(spec={"caBundle": bundle, "insecureSkipTLSVerify": blind})


def written(annotation: str = "", **parts: object) -> bytes:
    return msgspec.json.encode({"metadata": {"annotations": {annotation: "a/b"}}, **parts})


def broken(one: ClusterObject, old: bytes, new: bytes) -> list[AdmissionPathBroken]:
    view = view_of(WORLD, one, thing(BALANCERS, "front"))
    return effects(impact_of(update(one, one, bodies=(old, new)), view), AdmissionPathBroken)


@pytest.mark.parametrize("nothing", ["", "Cg=="])
def test_a_path_that_loses_its_authority_is_broken(nothing: str) -> None:
    """Its pods answer, and are hung up on; a line break vouches for nobody."""
    for one, body in ((webhook("h", LIVE), hook), (converted(), conversion), (API, api)):
        (found,) = broken(one, body(BUNDLE), body(nothing))

        assert (found.fail_closed, found.led, found.self_healing) == (True, False, False)
        assert (found.before, "caBundle" in found.calls) == (2, True)


def test_another_authority_breaks_nothing() -> None:
    """A rotation, one that comes, one that never was, and a path that asks for none."""
    assert broken(webhook("h", LIVE), hook(BUNDLE), hook("b3RoZXI=")) == []
    assert broken(webhook("h", LIVE), hook(""), hook(BUNDLE)) == []
    assert broken(converted(), conversion(""), conversion("")) == []
    assert broken(API, api(BUNDLE), api("", blind=True)) == []


def test_a_path_that_leads_nowhere_has_nothing_to_lose() -> None:
    """No pod answers behind its Service."""
    assert broken(webhook("h", EMPTY), hook(BUNDLE), hook("")) == []


def test_a_definition_without_instances_converts_nothing() -> None:
    """It is made anew before anything is stored."""
    one = converted()
    request = update(one, one, bodies=(conversion(BUNDLE), conversion("")))

    assert effects(impact_of(request, view_of(WORLD, one)), AdmissionPathBroken) == []


@pytest.mark.parametrize(
    ("annotation", "heals"),
    [
        ("certs.example.com/inject-ca-from", True),
        ("service.example.com/inject-cabundle", True),
        ("example.com/note", False),
    ],
)
def test_what_an_injector_is_asked_to_fill_in_comes_back(annotation: str, *, heals: bool) -> None:
    """Its annotation says so: a manifest without the bundle is applied over it every day."""
    (found,) = broken(converted(), conversion(BUNDLE), conversion("", annotation))

    assert found.self_healing is heals
