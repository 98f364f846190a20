"""What real controllers would do, predicted: each follows the store and acts once a write is done.

A room inside `offline` because it is the part that a recording replaces. `running` lets all of them
act until nothing is left to do; every other module is one controller, or a few that share rules.
They act at once, in no time of the run, save where life itself is told in seconds.
"""
