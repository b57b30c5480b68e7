"""Which tools a request asks for, and with what values: worked out of the request's words before a model writes a call.

A small model picks tools and copies values badly, but its grammar can be narrowed to what the request supports. From
the outside in: `plan` names the calls, `relevance` the tools, `slots` the values of one call's parameters, `mentions`
what a text holds that could be a value, `words` what counts as the same word.
"""
