"""The CPU as a device, and what each host thread has of its own."""
