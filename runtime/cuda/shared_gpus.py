"""Which GPU a device is on, where a program is given more devices than there are GPUs (`--devices`)."""

from __future__ import annotations


def gpu_of(device: int, devices: int | None, gpus: int) -> int:
    """
    The number of the GPU of device `device` of `devices` (None: a device for each GPU), where there are
    `gpus`: devices beyond the GPUs are on GPU 0, 1, … again. A device that does not exist has a GPU that
    does not exist.
    """
    if devices is None or not 0 <= device < devices or gpus == 0:
        return device
    return device % gpus


def sharing_of(devices: int, gpus: int) -> str:
    """Which of `devices` devices share one of `gpus` GPUs, as a sentence; empty if none do."""
    if devices <= gpus:
        return ""
    groups = [range(gpu, devices, gpus) for gpu in range(min(gpus, devices - gpus))]
    each = ", ".join(
        f"devices {' and '.join(map(str, group)) if len(group) == 2 else _from_to(group, gpus)} on GPU {gpu}"
        for gpu, group in enumerate(groups)
    )
    have = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
    return f"{devices} devices share {have}: {each}"


def _from_to(group: range, gpus: int) -> str:
    if gpus == 1:
        return f"{group[0]} to {group[-1]}"
    return f"{', '.join(map(str, group[:-1]))} and {group[-1]}"
