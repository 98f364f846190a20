"""`python -m suture` is `suture`."""

from suture.cli.main import main

main()
