#!/usr/bin/env bash
# Installs what the tests need into .venv and runs every check, the tests last; fails if any failed.
# --fast: what finds most breaks in about two minutes on two cores.
# Other arguments go to pytest: ./test.sh -k jacobi, ./test.sh --slow
set -euo pipefail
cd "$(dirname "$0")"
./install.sh ".[test]"
bin=.venv/bin
failed=()
check() { "$@" || failed+=("$(basename "$1")"); }
check "$bin/ruff" check -q .
check "$bin/ruff" format -q --check .
case " $* " in *" --fast "*) ;; *) check "$bin/basedpyright" --level error --pythonpath "$bin/python" ;; esac
check "$bin/lit" -q -j "$(nproc)" lit
[ ${#failed[@]} = 0 ] || echo "failed before the tests: ${failed[*]}"
# A file stays on one worker: its tests share what they compile.
"$bin/python" -m pytest -q -n "$(nproc)" --dist loadfile "$@"
[ ${#failed[@]} = 0 ]
