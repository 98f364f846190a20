"""What was decided, and the way back."""
