__global__ void k(float* x, unsigned long long* b) {
  float y; unsigned z; int done;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x[0]));
  asm("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(3), "r"(z));
  __asm__ __volatile__("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4+16];"
      : "=f"(y), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "l"(a::p(x)) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm("mov.u32 %0, %%laneid;" : "=r"(z));
}
