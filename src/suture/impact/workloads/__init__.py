"""Running pods: those that would be gone, could not come back, or go again and again."""
