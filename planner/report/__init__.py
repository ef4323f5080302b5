"""One renderer per format, each from a finished result to text."""
