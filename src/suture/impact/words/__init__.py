"""Effects in words: one line each, how grave it is for people, and warnings of the API server."""
