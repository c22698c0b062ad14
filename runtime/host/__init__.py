"""The CPU as a device, and variables of host threads."""
