"""The references: every rule on cycles made by hand."""
