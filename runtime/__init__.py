"""The OpenACC runtime: present table, devices, queues, launches, and the `acc_*` routines."""
