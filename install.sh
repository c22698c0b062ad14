#!/usr/bin/env bash
# Makes .venv with accopt in it: ./install.sh [what pip installs, "." by default]
set -euo pipefail
cd "$(dirname "$0")"
find_python() {
  for candidate in "${PYTHON:-}" python3.12 python3.11 python3 python; do
    [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' \
      2>/dev/null && echo "$candidate" && return
  done
  echo "accopt needs Python 3.11 or 3.12; set PYTHON to one" >&2
  exit 1
}
if [ ! -x .venv/bin/python ]; then
  "$(find_python)" -m venv --without-pip .venv 2>/dev/null && .venv/bin/python -m ensurepip -q 2>/dev/null \
    || { rm -rf .venv; "$(find_python)" -m pip install -q --user virtualenv && "$(find_python)" -m virtualenv -q .venv; }
fi
.venv/bin/python -m pip install -q --disable-pip-version-check -e "${1:-.}"
