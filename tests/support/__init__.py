"""Values that tests build on: clusters in a few lines, requests in one."""
