"""Scenarios: written worlds with writes, run on a real control plane, and what they harmed.

A room inside the lab because a scenario needs a cluster that may be broken. `format` and
`reading` say what a file may hold, `shapes` and `populate` build its world, `steps` writes as its
actors, `quiet`, `harm` and `probes` measure, `run` is the order of all this.
"""
