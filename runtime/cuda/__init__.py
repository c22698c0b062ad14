"""
NVIDIA GPUs as devices: the driver, memory and queues, large transfers, copies between GPUs,
codecs.
"""
