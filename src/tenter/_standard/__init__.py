"""Arrays that follow the Array API standard. Axis maps are calls of the Array API's functions."""
