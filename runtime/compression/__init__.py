"""
Compressed arrays at run time: codecs, transfers, reports, and the routines of `openacc.h` about
them.
"""
