// A library that is called libcuda.so.1 and holds nothing: a process that has loaded it finds no CUDA driver
// (harness/trace.py says why).
