import torch
import torch.nn.functional as F
import kagent as kg


class ModelNew(Model):
    def bn(self, m, x, residual=None, relu=True):
        n, c, h, w = x.shape
        scale, shift, y = x.new_empty(c), x.new_empty(c), torch.empty_like(x)
        kg.launch("bn_statistics", grid=c, block=512,
                  args=[x, m.weight, m.bias, scale, shift, m.running_mean, m.running_var, m.num_batches_tracked, n, c, h * w, m.eps, m.momentum])
        kg.launch("bn_apply", grid=(x.numel() + 255) // 256, block=256, args=[x, scale, shift, residual, y, x.numel(), c, h * w, int(relu)])
        return y

    def block(self, b, x):
        y = self.bn(b.bn1, b.conv1(x))
        y = b.conv2(y)
        if b.downsample is not None:
            x = self.bn(b.downsample[1], b.downsample[0](x), relu=False)
        return self.bn(b.bn2, y, residual=x)

    def forward(self, x):
        x = self.bn(self.bn1, self.conv1(x))
        x = F.max_pool2d(x, 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            for b in layer:
                x = self.block(b, x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))
