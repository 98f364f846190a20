"""What would happen: one module per family of effects, computed forward on the graph.

Pure. Knows the rules that Kubernetes' own controllers follow; knows no policy and no budget.
From a request to a change (`project`, `updates`), and from a change to its impact (`estimate`, a
table of families); `scene` is what each family is computed from. The floors below them, each of
which knows only those after it: losses, admission, reach and workloads, traffic, data and nodes,
ordinary, causes, ground, effects.
"""
