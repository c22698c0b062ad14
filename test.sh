#!/usr/bin/env bash
# Installs what the tests need into .venv and runs every check. Needs Python 3.11 or 3.12 and pip.
set -euo pipefail
cd "$(dirname "$0")"
./install.sh ".[test]"
bin=.venv/bin
"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/basedpyright" --level error
"$bin/lit" -q -j "$(nproc)" lit
"$bin/python" -m pytest -q -n "$(nproc)" "$@"
