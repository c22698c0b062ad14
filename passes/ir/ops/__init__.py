"""
Operations and attributes, read and built one at a time: queries on constructs, loops and types, a cursor
to build with, effects, layout, levels, the machine, schedules, messages and remarks.

May import `decisions`, the dialects and the ground floor; all other rooms of `ir` and the front
end import it.
"""
