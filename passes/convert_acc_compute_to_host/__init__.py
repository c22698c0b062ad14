"""The pass `convert-acc-compute-to-host`, and how gangs combine what they reduced."""
