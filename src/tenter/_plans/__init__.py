"""Plans: a specification for arrays of one layout. Plans are cached for later calls like the first."""
