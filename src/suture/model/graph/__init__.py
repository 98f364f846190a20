"""The live model: every object as a row, with the relations that disasters run along.

`graph.Graph` is written by one caller (the mirror, or a file); everybody else holds a
`view.GraphView`, which speaks rows and counts, so that the storage can change behind it.
"""

from suture.model.graph.answers import Lot, Owner, Use
from suture.model.graph.graph import Graph
from suture.model.graph.put import Life, Put
from suture.model.graph.sweep import Sweep
from suture.model.graph.view import GraphView

__all__ = ["Graph", "GraphView", "Life", "Lot", "Owner", "Put", "Sweep", "Use"]
