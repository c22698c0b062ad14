"""
What compiling costs: processor seconds, operations and memory of every phase and pass.

`python -m benchmarks.compile_time` measures the programs of this repository, generated ones of 1,000 to
30,000 lines (`generated.py`), and whatever C files or folders stand on the command line (a folder is one
program); gcc -O2, and nvcc where it is installed, stand beside it. Every compilation is a process of its own
without any cache (`child.py`). Seconds are of the processor, so that a busy machine distorts them little.
"""
