"""Results as one HTML page that needs nothing from elsewhere: ``--format html``.

page.py     documents as a page, with their drawings
*.j2, page.css
            the template, and its style

Names of a state are written as text, never as markup: the template escapes every value, and the
page itself forbids scripts and outside resources.
"""
