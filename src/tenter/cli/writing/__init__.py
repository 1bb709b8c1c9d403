"""From pixels to files."""
