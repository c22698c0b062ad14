#!/usr/bin/env bash
# Makes .venv with accopt in it: ./install.sh [what pip installs, "." by default]
# Needs Python 3.11 or 3.12 (PYTHON=… chooses one) with either its venv package or pip.
set -euo pipefail
cd "$(dirname "$0")"

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.12 python3.11 python3 python; do
    if [ -n "$candidate" ] && "$candidate" -c \
      'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "accopt needs Python 3.11 or 3.12; set PYTHON to one" >&2
  exit 1
}

# Debian splits ensurepip from Python: without it a pip outside the environment puts one into it.
make_environment() {
  "$1" -m venv --without-pip .venv
  .venv/bin/python -m ensurepip --default-pip >/dev/null 2>&1 \
    || "$1" -m pip --python .venv/bin/python install -q --disable-pip-version-check pip
}

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
  python=$(find_python)
  rm -rf .venv
  make_environment "$python"
fi
.venv/bin/python -m pip install -q --disable-pip-version-check -e "${1:-.}"
