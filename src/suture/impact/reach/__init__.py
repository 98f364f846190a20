"""Who may write what: rights, writes upon what others keep, and more and more of the same."""
