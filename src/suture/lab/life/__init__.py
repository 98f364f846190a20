"""Ordinary life on a real control plane under Suture: nothing that happens in it may be refused.

In the lab because it needs one with controllers, a scheduler and nodes. Unlike the scenarios it has
no script: actors go about their work side by side, and every refusal is a false one.
"""
