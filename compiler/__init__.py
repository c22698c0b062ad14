"""The compiler: C front end, IR generation, pipeline, code generation, and the drivers."""
