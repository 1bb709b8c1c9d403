"""Execution: runs plans on arrays and tensors, with gradients."""
