"""Operations on ragged arrays (rows of different lengths) in host memory, and their results in `out`."""
