"""Who said last at which addresses outside a Service or a route is reached.

Several controllers may write one status: who gives addresses, and who only notes that it gives
none. So what is remembered is who changed the addresses, and not who wrote.
Source: core/v1 ServiceStatus, networking/v1 IngressStatus.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bodies import addresses_given
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import INGRESSES, SERVICES
from suture.model.request import Request
from suture.model.writes import MONTH_S, number

GIVEN_TO: Final = frozenset({SERVICES, INGRESSES})
"""What addresses outside are given to, by a write of its status."""

REMEMBERED_S: Final = MONTH_S
"""How long it is looked back: an address is given once, and kept for as long as the Service is."""


def remember_given(request: Request, view: GraphView, now: Now) -> None:
    """Remember who says of a Service or route that it is reached elsewhere than before."""
    if request.gvr.resource not in GIVEN_TO:
        return
    if addresses_given(request.old_body) == addresses_given(request.new_body):
        return
    deed = Deed.apart(What.GIVEN, request.user.username, now)
    view.history.writes.note(request.key, deed, now)


def given_by_another(request: Request, view: GraphView, now: Now) -> bool:
    """Whether another than who asks is known to have said last where an object is reached."""
    last = view.history.writes.last(request.key, What.GIVEN, now, REMEMBERED_S)
    return last is not None and last != number(request.user.username)
