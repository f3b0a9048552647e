"""Times, peak memory and profiles of the reference and of a plan; facts of the GPU they ran on."""
