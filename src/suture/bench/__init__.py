"""Measures this code on made clusters: one module a benchmark, each a function of its size.

Above the lab, whose clusters and certificates it uses; nothing else imports it but the command.
"""
