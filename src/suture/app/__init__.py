"""The order of steps: async, owns no rule."""
