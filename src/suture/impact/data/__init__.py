"""Data, in the cluster and outside: what would be lost for good."""
