"""The webhook registration: the lanes as the API server reads them.

Pure. One configuration of five webhooks; its conditions are the only thing that enrolling changes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from suture.errors import InputError
from suture.install.expressions import LABELS
from suture.install.lanes import LaneRule, lanes
from suture.install.settings import Identities, Installation, Read, client_config

NAME = "suture"
DOMAIN = "suture.dev"

MEMORY = "suture.dev/installation"
"""The annotation with what the conditions were made of, so that enrolling can make them again."""

Document = dict[str, Any]


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the registration remembers of its installation."""

    namespace: str
    installers: Identities = Identities()
    break_glass: tuple[str, ...] = ()
    reads: tuple[Read, ...] = ()
    authorizer: bool = False


def admit_path(lane: str) -> str:
    """Return the path that a lane's requests are posted to."""
    return f"/admit/{lane}"


def registration(installation: Installation) -> Document:
    """Return the ValidatingWebhookConfiguration."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {
            "name": NAME,
            "labels": LABELS,
            "annotations": {MEMORY: _remembered(installation)},
        },
        "webhooks": [webhook(installation, lane) for lane in lanes(installation)],
    }


def remembered(live: Document) -> Installation:
    """Return the installation that a live registration remembers, enrolling nobody yet.

    Errors: InputError when it was not made by `suture install`.
    """
    words = live.get("metadata", {}).get("annotations", {}).get(MEMORY, "")
    try:
        found = msgspec.json.decode(words, type=Remembered)
    except msgspec.DecodeError as error:
        raise InputError(
            f"registration `{NAME}` does not say how it was made (annotation `{MEMORY}`); "
            "run `suture install --apply` again"
        ) from error
    return Installation(
        namespace=found.namespace,
        installers=found.installers,
        break_glass=found.break_glass,
        reads=found.reads,
        authorizer=found.authorizer,
    )


def renewed(live: Document, installation: Installation) -> Document:
    """Return a live registration with the conditions of `installation`, reached as it is now."""
    wanted = registration(installation)
    reached = {hook["name"]: hook["clientConfig"] for hook in live.get("webhooks", ())}
    for hook in wanted["webhooks"]:
        if hook["name"] not in reached:
            raise InputError(
                f"registration `{NAME}` lacks `{hook['name']}`; run `suture install --apply` again"
            )
        hook["clientConfig"] = reached[hook["name"]]
    return wanted


def _remembered(installation: Installation) -> str:
    known = Remembered(
        namespace=installation.namespace,
        installers=installation.installers,
        break_glass=installation.break_glass,
        reads=installation.reads,
        authorizer=installation.authorizer,
    )
    return msgspec.json.encode(known).decode()


def webhook(installation: Installation, lane: LaneRule) -> Document:
    """Return one lane's webhook.

    The rules take everything: which request is meant, the conditions say, since rules cannot name
    identities, and what they leave out can never be asked for.
    """
    return {
        "name": f"{lane.name}.{DOMAIN}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config(installation, admit_path(lane.name)),
        "failurePolicy": "Fail" if lane.fail_closed else "Ignore",
        "matchPolicy": "Equivalent",
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": lane.timeout_s,
        "rules": [
            {
                "apiGroups": ["*"],
                "apiVersions": ["*"],
                "operations": ["CREATE", "UPDATE", "DELETE"],
                "resources": ["*/*"],
                "scope": "*",
            }
        ],
        "matchConditions": [
            {"name": condition.name, "expression": condition.expression}
            for condition in lane.conditions
        ],
    }
