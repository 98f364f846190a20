"""What everything else of this room stands on: the change itself, what goes along, bodies, nodes.

Knows the graph and Kubernetes' own rules; knows nobody who asks, and nothing of what was before.
"""
