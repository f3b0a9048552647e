"""Whether outputs and state are the reference's: one rule a function, and the file that carries outputs."""
