"""The jail and what runs in it: policy, jail backends, working copies, the command runner, the pytest fork server.

Imports neither `coder` nor `model`.
"""
