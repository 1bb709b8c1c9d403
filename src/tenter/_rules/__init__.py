"""Resampling rules: which inputs an output reads, and with which weights, as plain values."""
