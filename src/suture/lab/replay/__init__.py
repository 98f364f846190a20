"""A stand-in for the API server of a cluster that no machine here can hold.

In the lab because it is one more control plane to try Suture against: a process that answers
discovery, lists and watches from the pages of a made cluster, lets pods come and go, and breaks
on demand. It stores nothing that is written to it.
"""

from suture.lab.replay.process import ReplayServer
from suture.lab.replay.state import Break, Churn, Fault, Happening, ReplayState

__all__ = ["Break", "Churn", "Fault", "Happening", "ReplayServer", "ReplayState"]
