"""The OpenACC runtime: present table, devices, queues, launches, and the `acc_*` routines."""

from ..compiler.base.moved import follow_moves

follow_moves()
