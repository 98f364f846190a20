"""Suture: a dynamic permission layer for Kubernetes operators."""

__version__ = "0.1.0"
