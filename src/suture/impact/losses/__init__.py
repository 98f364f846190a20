"""What goes, whatever it is: removals, what others name, entries, and what stays half deleted."""
