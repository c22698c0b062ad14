"""
The passes: one file each, or a folder for a pass of several files; `registry` lists them by name. Shared
code is in `ir`, decisions without IR are in `decisions`.
"""
