"""Predictions beside what the real API server and its controllers then do, case by case.

In the lab because it needs one: random worlds, random writes, and a comparison that excuses
nothing it does not name.
"""
