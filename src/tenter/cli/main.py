"""Entry of the `tenter` command: parse the arguments, run one command, report any failure in one line."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import NoReturn

from tenter.cli.commands import repeat_command, resize_command
from tenter.cli.explain import explain_command
from tenter.cli.parser import parse
from tenter.cli.pipes import PIPE
from tenter.cli.refusal import first_line
from tenter.cli.streams import guarded, say
from tenter.cli.volumes.commands import pyramid_command

INTERRUPTED = 130
COMMANDS = {
    "resize": resize_command,
    "repeat": repeat_command,
    "pyramid": pyramid_command,
    "explain": explain_command,
}


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 some files failed, 2 refused, 130 interrupted."""
    words = sys.argv[1:] if argv is None else argv
    try:
        with guarded():
            args = parse(words)
            code = COMMANDS[args.command](args)
            print(end="", flush=True)
    except BrokenPipeError:
        # The reader of the pipe (head, less) has ended. Python flushes stdout again on exit, which must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as progress:
        say(f"interrupted{progress}")
        return INTERRUPTED
    except Exception as error:
        say(first_line(error))
        if "--json" in words and PIPE not in words:
            with contextlib.suppress(OSError):  # the exit code says it too
                print(json.dumps({"error": first_line(error)}), flush=True)
        return 2
    return code


def run() -> NoReturn:
    """Run the command, then end the process."""
    code = main()
    if code == INTERRUPTED:
        # What threads are busy with, such as a block of an array, is not waited for.
        with contextlib.suppress(OSError):
            print(end="", flush=True)
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
