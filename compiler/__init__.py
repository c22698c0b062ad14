"""The compiler: C front end, IR generation, pipeline, code generation, and the drivers."""

from .base.moved import follow_moves

follow_moves()
