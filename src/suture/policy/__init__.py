"""What the rules say: templates and constraints, compiled once, evaluated on every case.

Pure. Weighs facts; never computes one.
"""
