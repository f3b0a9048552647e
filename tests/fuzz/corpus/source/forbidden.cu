__global__ void k() { printf("%s", __TIME__); }
