"""What the embedded default does of edits, without an agent: complete, rewrite and describe a function, rename.

What is asked is read from the words (`asked`), the function is looked for in the project (`project`), and then either
the tree says what the edit is (`rename`) or the model writes some texts to choose from (`writing`). All of them are
proposals; what the tests say of them and whether one is applied is for others.
"""
