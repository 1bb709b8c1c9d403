"""Ragged sums: one short segment, then all the rest, of rows that lie side by side. Prints whether they are right, and how
many MiB the process grew."""

import resource

import numpy as np

import tenter

x = np.ones((2, 16_000_000), np.int8)
A = tenter.maps.Copy.repeats([1, x.shape[1] - 1]).T
tenter.set_num_threads(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = A.apply(x, 1)
print(y.tolist() == [[1, 127]] * 2, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
