"""KEP-83's rules: reference, model and checker against the text, by hand and by enumeration."""
