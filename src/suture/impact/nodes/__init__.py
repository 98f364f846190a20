"""Nodes: the room that pods have on them, which were closed, and the agents that run on each."""
