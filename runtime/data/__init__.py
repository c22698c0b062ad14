"""
Present tables and the meaning of data clauses: mapping, sections, rows of pointers, order among
queues.
"""
