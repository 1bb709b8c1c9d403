"""Arrays that follow the Array API standard. Axis maps are calls of the standard's functions."""
