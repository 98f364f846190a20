"""Who lives in the lab: each module is one kind of work, as somebody does it every day.

Each actor prepares its own corner, and then takes one turn after the other until life is over.
"""
