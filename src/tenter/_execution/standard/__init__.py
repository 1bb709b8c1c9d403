"""Arrays by the Array API standard: axis maps as calls of standard functions."""
