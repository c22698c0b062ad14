"""`#pragma acc` lines as typed records (`records.py`), by the table of clauses (`rules.py`)."""
