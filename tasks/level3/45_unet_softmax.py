"""A U-Net in train mode with a softmax along the image rows where other nets have a ReLU."""

import torch
from torch import nn


class DoubleConv(nn.Module):
    """Twice: 3x3 convolution, batch norm, softmax along the width."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
        )

    def forward(self, x):
        return self.double_conv(x)


def upconv(in_channels: int, out_channels: int) -> nn.ConvTranspose2d:
    return nn.ConvTranspose2d(in_channels, out_channels, kernel_size=2, stride=2)


class Model(nn.Module):
    """Four levels down, a bottleneck, four levels up with skips: (batch, in_channels, h, w) -> (batch, out_channels, h, w)."""

    def __init__(self, in_channels: int, out_channels: int, features: int):
        super().__init__()
        self.encoder1 = DoubleConv(in_channels, features)
        self.encoder2 = DoubleConv(features, features * 2)
        self.encoder3 = DoubleConv(features * 2, features * 4)
        self.encoder4 = DoubleConv(features * 4, features * 8)
        self.bottleneck = DoubleConv(features * 8, features * 16)
        self.upconv4 = upconv(features * 16, features * 8)
        self.decoder4 = DoubleConv(features * 16, features * 8)
        self.upconv3 = upconv(features * 8, features * 4)
        self.decoder3 = DoubleConv(features * 8, features * 4)
        self.upconv2 = upconv(features * 4, features * 2)
        self.decoder2 = DoubleConv(features * 4, features * 2)
        self.upconv1 = upconv(features * 2, features)
        self.decoder1 = DoubleConv(features * 2, features)
        self.final_conv = nn.Conv2d(features, out_channels, kernel_size=1)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)

    def forward(self, x):
        skips = []
        for encoder in (self.encoder1, self.encoder2, self.encoder3, self.encoder4):
            skips.append(encoder(x))
            x = self.pool(skips[-1])
        x = self.bottleneck(x)
        for up, decoder in (
            (self.upconv4, self.decoder4),
            (self.upconv3, self.decoder3),
            (self.upconv2, self.decoder2),
            (self.upconv1, self.decoder1),
        ):
            x = decoder(torch.cat((up(x), skips.pop()), dim=1))
        return self.final_conv(x)


batch_size = 8
in_channels = 8
out_channels = 4
height = 64
width = 512
features = 64


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, features]
