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
# For programs on a stand-in for the CUDA driver; apart, so that other tests run as on a machine without a GPU.
cuda=
[ -d .venv/cuda ] || {
  "$bin/python" -m pip install -q --disable-pip-version-check --no-compile --target .venv/cuda \
    'cuda-bindings>=13.0,<14' || echo "no cuda-bindings: tests on a stand-in for the CUDA driver are skipped"
} & cuda=$!
types=  # Checked by one thread, while tests run.
case " $* " in
*" --fast "*) ;;
*) "$bin/basedpyright" --level error --pythonpath "$bin/python" >.venv/types.txt 2>&1 & types=$! ;;
esac
check "$bin/lit" -q -j "$(nproc)" lit
wait "$cuda"
[ ${#failed[@]} = 0 ] || echo "failed before the tests: ${failed[*]}"
# A file stays on one worker: its tests share what they compile.
"$bin/python" -m pytest -q -n "$(nproc)" --dist loadfile "$@" || failed+=(pytest)
[ -z "$types" ] || wait "$types" || { cat .venv/types.txt; failed+=(basedpyright); }
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
