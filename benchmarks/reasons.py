"""Why rows fall short of their targets: from the name of a row to a sentence, shown below the table of targets."""

REASONS: dict[str, str] = {}
