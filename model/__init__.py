"""The language models: tensors in, tensors out. Knows nothing of repositories, editors or sandboxes.

Imports neither `coder` nor `sandbox`.
"""
