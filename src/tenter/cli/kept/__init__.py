"""The metadata of an image, and how it is updated."""
