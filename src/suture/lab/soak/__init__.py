"""Random writes to a real control plane while a mirror follows: is the model still the same.

In the lab because it needs one. The slow graph that says what is true is here too, for the tests
that hold the fast one against it without a cluster.
"""
