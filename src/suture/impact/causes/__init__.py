"""Why an object goes: what its parent wants, what was written before, what is over or replaced.

Looked up once for a change, whatever effects ask (`causes.Causes`, in a scene's hands).
"""
