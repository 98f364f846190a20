"""What ordinary work looks like: whose an object is, and the patterns in which a loss is none.

Each module tells one pattern by facts of the cluster and of what its actor did, never by a name;
what it vouches for no effect counts. So each is also what somebody could hide behind: it says how
much may pass by it.
"""
