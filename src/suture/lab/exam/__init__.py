"""The examination: every scenario file of a folder, under Suture and under what one has without it.

A room of its own inside the lab because it knows many scenarios and several guards at once, where
`scenarios` knows one of each. `python -m suture.lab.exam`, or `make exam`, runs it.
"""
