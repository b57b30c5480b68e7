"""The programs that run inside the jail, under the project's own interpreter.

They use the standard library and the project's pytest alone, keep to Python 3.9, and are loaded by start.py under a
private package name, so that no module of the project is shadowed.
"""
