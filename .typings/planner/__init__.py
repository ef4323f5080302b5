"""For type checkers only: shows models/ under the name it is installed by."""
