"""Specifications: what a call does, in plain values, and the checks that make one of a call's arguments."""
