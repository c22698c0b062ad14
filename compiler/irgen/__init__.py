"""IR generation: typed trees → the acc-level module. The entry point is `module.generate_module`."""
