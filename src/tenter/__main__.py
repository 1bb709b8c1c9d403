"""`python -m tenter` is the command `tenter`."""

from tenter.cli.main import run

if __name__ == "__main__":
    run()
