"""Entry of the `tenter` command: read the arguments, run one command, turn any failure into one line."""

from __future__ import annotations

import os
import sys

from tenter.cli.commands import repeat_command, resize_command
from tenter.cli.parser import parse
from tenter.cli.refusal import first_line
from tenter.cli.streams import guarded, say

COMMANDS = {"resize": resize_command, "repeat": repeat_command}


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 some files failed, 2 refused, 130 interrupted."""
    try:
        with guarded():
            args = parse(sys.argv[1:] if argv is None else argv)
            code = COMMANDS[args.command](args)
            print(end="", flush=True)
    except BrokenPipeError:
        # the reader (head, less) has gone; without this Python complains once more on exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as where:
        say(f"interrupted {where}".rstrip())
        return 130
    except Exception as error:
        # whatever it is: one line
        say(first_line(error))
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
