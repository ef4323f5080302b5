"""The command line: click commands without logic of their own."""
