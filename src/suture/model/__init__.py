"""What exists: values. Names, trimmed objects, the graph between them, who asks for what.

Knows nothing of effects, policies, budgets or bytes on a wire.
"""
