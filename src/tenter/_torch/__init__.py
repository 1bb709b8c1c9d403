"""Runs plans on PyTorch tensors. Imported only after the caller has imported torch.

An ordinary dense tensor in eager code takes the short way: its memory is read, the result's is written, and a gradient
is recorded. Everything else (torch.func, the compiler, export, fake and meta tensors, subclasses, autocast) goes
through the dispatcher, by the registered operators of `schema.py`. Their kernels end here too.
"""
