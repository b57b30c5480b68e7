"""The forty hostile behaviours: what hostile code tries in a jail, and whether any of it reached the outside."""
