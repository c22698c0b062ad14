"""
Present tables and the implementation of data clauses: mapping, sections, rows of pointers, order among
queues.
"""
