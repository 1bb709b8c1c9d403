"""Execution: plans run on arrays and tensors, with gradients, and PyTorch's operators."""
