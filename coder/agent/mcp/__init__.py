"""MCP, both ways: tools that the user's servers offer to a task, and what this program offers to other assistants."""
