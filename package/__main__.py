"""`python -m accopt`: the pass driver, as the command `accopt`."""

from accopt.compiler.drivers.accopt_main import command

command()
