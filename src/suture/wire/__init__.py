"""Bytes to values and back: parsing, still pure."""
