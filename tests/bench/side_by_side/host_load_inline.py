import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

# CUDA_SOURCE stands above this text: the very kernels of the other form.
WRAPPERS = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
torch::Tensor batch_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, torch::Tensor mean, torch::Tensor var,
                         torch::Tensor batches, c10::optional<torch::Tensor> residual, double eps, double momentum, bool relu) {
  auto stream = at::cuda::getCurrentCUDAStream();
  int n = x.size(0), c = x.size(1), hw = x.size(2) * x.size(3), total = x.numel();
  auto scale = torch::empty({c}, x.options()), shift = torch::empty({c}, x.options()), y = torch::empty_like(x);
  bn_statistics<<<c, 512, 0, stream>>>(x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), scale.data_ptr<float>(),
      shift.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(), (long long*)batches.data_ptr<int64_t>(), n, c, hw, eps, momentum);
  bn_apply<<<(total + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), scale.data_ptr<float>(), shift.data_ptr<float>(),
      residual ? residual->data_ptr<float>() : nullptr, y.data_ptr<float>(), total, c, hw, relu);
  return y;
}
"""
DECLARATION = """torch::Tensor batch_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, torch::Tensor mean, torch::Tensor var,
    torch::Tensor batches, c10::optional<torch::Tensor> residual, double eps, double momentum, bool relu);"""
ext = load_inline(name="kagent_side_by_side_bn", cpp_sources=DECLARATION, cuda_sources=CUDA_SOURCE + WRAPPERS, functions=["batch_norm"])


class Block(nn.Module):
    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.downsample = None

    def forward(self, x):
        y = bn(self.bn1, self.conv1(x))
        y = self.conv2(y)
        if self.downsample is not None:
            x = bn(self.downsample[1], self.downsample[0](x), relu=False)
        return bn(self.bn2, y, residual=x)


def bn(m, x, residual=None, relu=True):
    return ext.batch_norm(x, m.weight, m.bias, m.running_mean, m.running_var, m.num_batches_tracked, residual, m.eps, m.momentum, relu)


class ModelNew(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for index, width in enumerate((64, 128, 256, 512)):
            stride = 1 if index == 0 else 2
            # Random numbers are drawn in the reference's order: the short cut first.
            shortcut = None
            if stride != 1:
                shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))
            first = Block(channels, width, stride)
            first.downsample = shortcut
            setattr(self, f"layer{index + 1}", nn.Sequential(first, Block(width, width, 1)))
            channels = width
        self.fc = nn.Linear(512, num_classes)

    def forward(self, x):
        x = F.max_pool2d(bn(self.bn1, self.conv1(x)), 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))
