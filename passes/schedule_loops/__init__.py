"""
The pass `schedule-loops`, and the choices of tuners. `schedule_choices` is also read by the
drivers.
"""
