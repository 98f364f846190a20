"""Neighbourhoods as pictures: laid out in layers, then written as SVG or as one HTML page.

Pure but for the script that the page brings along. Knows boxes and lines, never the graph; the
same neighbourhood gives the same bytes.
"""
