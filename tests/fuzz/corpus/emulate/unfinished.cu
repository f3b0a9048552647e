extern __shared__ float x[
asm volatile ("mov.u32 %0, %9999999999;" : "=r"(a(((