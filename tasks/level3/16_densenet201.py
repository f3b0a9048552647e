"""DenseNet-201 (without bottlenecks) in train mode."""

import torch
import torch.nn.functional as F
from torch import nn

BLOCK_LAYERS = [6, 12, 48, 32]


class DenseBlock(nn.Module):
    """Every layer sees all channels made before it and adds `growth_rate` of its own."""

    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int):
        super().__init__()
        self.layers = nn.ModuleList(
            self.layer(num_input_features + i * growth_rate, growth_rate) for i in range(num_layers)
        )

    @staticmethod
    def layer(in_features: int, growth_rate: int) -> nn.Sequential:
        return nn.Sequential(
            nn.BatchNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
            nn.Dropout(0.0),
        )

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, 1)
        return x


class TransitionLayer(nn.Module):
    """Normalise, rectify, halve the channels, halve the resolution."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, out_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x):
        return self.transition(x)


class Model(nn.Module):
    """Stem, four dense blocks with transitions between, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, growth_rate: int = 32, num_classes: int = 1000):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.dense_blocks = nn.ModuleList()
        self.transition_layers = nn.ModuleList()
        channels = 64
        for i, num_layers in enumerate(BLOCK_LAYERS):
            self.dense_blocks.append(DenseBlock(num_layers, channels, growth_rate))
            channels += num_layers * growth_rate
            if i + 1 < len(BLOCK_LAYERS):
                self.transition_layers.append(TransitionLayer(channels, channels // 2))
                channels //= 2
        self.final_bn = nn.BatchNorm2d(channels)
        self.classifier = nn.Linear(channels, num_classes)

    def forward(self, x):
        x = self.features(x)
        for i, block in enumerate(self.dense_blocks):
            x = block(x)
            if i < len(self.transition_layers):
                x = self.transition_layers[i](x)
        x = F.relu(self.final_bn(x), inplace=True)
        x = F.adaptive_avg_pool2d(x, (1, 1)).view(x.size(0), -1)
        return self.classifier(x)


batch_size = 10
growth_rate = 32
num_classes = 10
height, width = 224, 224


def get_inputs():
    return [torch.rand(batch_size, 3, height, width)]


def get_init_inputs():
    return [growth_rate, num_classes]
