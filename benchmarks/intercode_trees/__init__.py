"""File trees on which a shell task's reference command visibly acts, and wrong neighbours of that command.

A tree is made from what the task and its reference command name: paths, patterns, words, numbers, permissions. It is
kept when the reference prints or changes something, and three mutants of it do something else.
"""
