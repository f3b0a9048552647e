thread_local char kagent_shared_end[64];
