"""What weighing one case with the safety pack costs, without a cluster: evaluation alone.

python -m suture.bench.policies
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Mapping

import msgspec

from suture.adapters.files import load_policies
from suture.impact.effects import (
    Effect,
    EndpointsLost,
    Impact,
    ObjectsRemoved,
    ServiceEmptied,
    Victim,
)
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import Gvk, Gvr, Operation
from suture.model.request import Request
from suture.policy.compile import PolicySet
from suture.policy.evaluate import evaluate
from suture.policy.rules import Case

CASES_A_SAMPLE = 50
"""LIMIT: evaluations timed together: enough that reading the clock does not count."""


class Measure(msgspec.Struct, frozen=True):
    """The cost of one kind of case, in microseconds.

    `cpu_us` is the median of this thread's own time, which neighbours on the machine disturb less.
    """

    median_us: float
    p99_us: float
    cpu_us: float
    findings: int
    claims: int


def measure_policies(
    policies: PolicySet | None = None, *, samples: int = 400
) -> dict[str, Measure]:
    """Return what `evaluate` costs for each kind of case, under the safety pack by default."""
    in_force = policies if policies is not None else load_policies()
    return {name: _measure(in_force, case, samples) for name, case in cases().items()}


def cases() -> Mapping[str, Case]:
    """Return the cases that are measured, by name."""
    service = Victim("", "services", "shop", "web", "uid-1")
    gone = ObjectsRemoved(
        resource="services", count=1, direct=1, lasting=1, counted=1, foreign=1, in_use=1,
        population=2000, victims=(service,),
    )  # fmt: skip
    endpoints = EndpointsLost(
        service=service, before=3, after=0, peak=3, self_healing=False, removed=True
    )
    dip = ObjectsRemoved(
        resource="pods", count=1, direct=1, self_healing=1, in_use=1, population=30_000,
        victims=(service,),
    )  # fmt: skip
    one_less = EndpointsLost(service=service, before=3, after=2, peak=3, self_healing=True)
    last = EndpointsLost(service=service, before=1, after=0, peak=1, self_healing=True)
    emptied = ServiceEmptied(service=service, before=1, self_healing=True, declared=3)
    return {
        "no effects": _case("services"),
        "service delete": _case("services", endpoints, gone),
        "pod delete": _case("pods", one_less, dip),
        "pod delete, refused": _case("pods", last, emptied, dip),
    }


def _case(plural: str, *effects: Effect) -> Case:
    user = UserInfo("system:serviceaccount:balancers:load-balancer", ("system:serviceaccounts",))
    return Case(
        request=Request(
            uid="review",
            operation=Operation.DELETE,
            gvr=Gvr("", "v1", plural),
            gvk=Gvk("", "v1", plural),
            namespace="shop",
            name="web",
            user=user,
        ),
        actor=Actor(user, user.username, IdentityKind.OPERATOR, Stage.ENFORCE),
        impact=Impact(effects),
    )


def _measure(policies: PolicySet, case: Case, samples: int) -> Measure:
    found = evaluate(policies, case)
    times: list[float] = []
    own: list[float] = []
    gc.collect()
    for _ in range(samples):
        start, own_start = time.perf_counter_ns(), time.thread_time_ns()
        for _ in range(CASES_A_SAMPLE):
            evaluate(policies, case)
        own.append((time.thread_time_ns() - own_start) / CASES_A_SAMPLE / 1000)
        times.append((time.perf_counter_ns() - start) / CASES_A_SAMPLE / 1000)
    return Measure(
        median_us=round(statistics.median(times), 2),
        p99_us=round(statistics.quantiles(times, n=100)[98], 2),
        cpu_us=round(statistics.median(own), 2),
        findings=len(found.violations),
        claims=len(found.claims),
    )


if __name__ == "__main__":
    for name, cost in measure_policies().items():
        line = f"{name:22} median {cost.median_us:8.2f} µs  p99 {cost.p99_us:8.2f} µs"
        print(f"{line}  cpu {cost.cpu_us:8.2f} µs")  # noqa: T201 a command
