"""What would happen: one module per family of effects, computed forward on the graph.

Pure. Knows the rules that Kubernetes' own controllers follow; knows no policy and no budget.
"""
