// Train-mode batch norm (+ residual, + relu) for ResNet-18, contiguous NCHW. One kernel for both forms of the answer.
__device__ float block_sum(float v, float* part) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  v = 0.f;
  for (int i = 0; i < (int)(blockDim.x >> 5); ++i) v += part[i];
  __syncthreads();
  return v;
}

// One block a channel: mean and variance of x[:, c], then scale and shift, and the running statistics.
extern "C" __global__ void bn_statistics(const float* x, const float* gamma, const float* beta, float* scale, float* shift,
                                         float* running_mean, float* running_var, long long* batches, int n, int c, int hw, float eps,
                                         float momentum) {
  __shared__ float part[32];
  const int channel = blockIdx.x;
  const int count = n * hw;
  float sum = 0.f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += x[((long long)(i / hw) * c + channel) * hw + i % hw];
  const float mean = block_sum(sum, part) / count;
  float squares = 0.f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const float d = x[((long long)(i / hw) * c + channel) * hw + i % hw] - mean;
    squares += d * d;
  }
  const float m2 = block_sum(squares, part);
  if (threadIdx.x == 0) {
    const float s = gamma[channel] * rsqrtf(m2 / count + eps);
    scale[channel] = s;
    shift[channel] = beta[channel] - mean * s;
    running_mean[channel] = (1.f - momentum) * running_mean[channel] + momentum * mean;
    running_var[channel] = (1.f - momentum) * running_var[channel] + momentum * (m2 / (count - 1));
    if (channel == 0) *batches += 1;
  }
}

// y = x * scale + shift [+ residual] [then relu]; residual may be null.
extern "C" __global__ void bn_apply(const float* x, const float* scale, const float* shift, const float* residual, float* y, int total,
                                    int c, int hw, int relu) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int channel = i / hw % c;
  float v = x[i] * scale[channel] + shift[channel];
  if (residual) v += residual[i];
  y[i] = relu ? fmaxf(v, 0.f) : v;
}
