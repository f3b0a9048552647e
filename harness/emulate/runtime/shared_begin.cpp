// The linker keeps thread-local variables in the order of its files: the answer's shared ones lie between this and
// shared_end.cpp's.
thread_local char kagent_shared_begin[64];
