"""Facts about arrays: dtypes, layouts, limits, errors, and what each array library says about its arrays."""

import numpy as np

from tenter._arrays import oldest_versions

oldest_versions.check("NumPy", np.__version__)
