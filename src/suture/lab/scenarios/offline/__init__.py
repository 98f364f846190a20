"""Scenarios without a control plane: a predicted one, in memory, under the same runner and guard.

A room inside the scenarios because it is the other place where they run. `store` holds the
objects, `server` and `client` are the API server's verbs, `admission` what stands before a write,
`controllers` what follows one; `guard` is Suture itself, asked bytes to bytes as it is live.
"""
