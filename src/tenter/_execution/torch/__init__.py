"""Plans run on PyTorch tensors. Imported only once the caller has imported torch.

A plain tensor in eager code takes the short way: its memory is read and written, and a gradient recorded. Everything
else (torch.func, the compiler, export, fake and meta tensors, subclasses, autocast) goes through the dispatcher, by the
registered operators of `schema.py`, whose kernels end here too.
"""
