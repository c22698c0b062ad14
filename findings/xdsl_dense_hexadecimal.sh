#!/usr/bin/env bash
# xDSL 0.74.0 reads a hexadecimal literal in dense<…> of floating-point numbers as an integer and converts it,
# while the same literal is a bit pattern as a scalar (as in MLIR's LangRef), and xDSL itself prints infinities
# and NaNs in this form: a dense constant with an infinity is another number once it is printed and read again.
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q xdsl==0.74.0
cat > "$folder/in.mlir" <<'IR'
"test.op"() {scalar = 0x7F800000 : f32, dense = dense<[0x7F800000, 0x3F800000]> : tensor<2xf32>} : () -> ()
IR
found=$("$folder/venv/bin/xdsl-opt" "$folder/in.mlir")
echo "$found"
grep -q 'scalar = 0x7f800000 : f32' <<< "${found,,}"                    # the scalar is still an infinity
grep -q 'dense<\[2.139.*e+09, 1.065.*e+09\]>' <<< "$found"              # the elements are not
