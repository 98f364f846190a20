"""Made clusters: believable, repeatable, of any size; what the demo and the benchmarks run on.

In the lab because it is a stand-in for a real cluster, as the control plane next door is. A seed
and a page of lines go in; Kubernetes JSON, and what `wire.trim` makes of it, come out.
"""

from suture.lab.clusters.cluster import Cluster
from suture.lab.clusters.size import DEMO, SIZES, Size

__all__ = ["DEMO", "SIZES", "Cluster", "Size"]
