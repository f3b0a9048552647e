"""The reference model: loading a task file, building from a seed, inputs, state, precision flags."""
