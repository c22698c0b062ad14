"""
Benchmarks of compile time: processor seconds, operations and memory of every phase and pass.

`python -m benchmarks.compile_time` measures the programs of this repository, generated ones of 1,000 to
30,000 lines (`generated.py`), and any C files or folders on the command line (a folder is one program), and
compares with gcc -O2, and with nvcc if it is installed. Every compilation runs in its own process without
any cache (`child.py`). Seconds are processor time, so that a busy machine distorts them little.
"""
