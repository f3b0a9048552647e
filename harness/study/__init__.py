"""What can be known of a task before any kernel is written: its work, the physical floor of its time, its numerics under the official check."""
