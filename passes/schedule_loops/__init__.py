"""
The pass `schedule-loops`, and the choices of tuners. Drivers may import `schedule_choices`.
"""
