"""Plans: what a specification is for arrays of one layout, made once and kept for the next call like it."""
