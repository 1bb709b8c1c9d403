"""Children forked in the middle of another thread's first call of a map, which they then call."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np

import tenter
from maps_of import planned, resample

tenter.set_num_threads(1)
x = np.ones((2, 100000), np.float32)
for k in range(12):
    how = planned(x, ((1, resample("linear", 100000, 200000 + k)),))
    t = threading.Thread(target=how.run, args=(x,))
    t.start()
    time.sleep(k / 4000)
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os._exit(0 if abs(how.run(x) - 1).max() < 1e-6 else 1)
    t.join()
    if os.waitpid(pid, 0)[1]:
        print(f"child {k} failed")
        break
else:
    print("fine")
