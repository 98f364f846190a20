"""The rim: one outside thing each, strangers among themselves."""
