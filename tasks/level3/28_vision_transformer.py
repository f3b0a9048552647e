"""A vision transformer whose encoder attends along the batch: torch's encoder layers take (sequence, batch, dim) unless told otherwise,
and the suite does not tell them."""

import torch
from torch import nn


class Model(nn.Module):
    """(batch, channels, image_size, image_size) -> (batch, classes)."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_classes: int,
        dim: int,
        depth: int,
        heads: int,
        mlp_dim: int,
        channels: int = 3,
        dropout: float = 0.1,
        emb_dropout: float = 0.1,
    ):
        super().__init__()
        if image_size % patch_size != 0:
            raise ValueError("image_size must be a multiple of patch_size")
        patches = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.pos_embedding = nn.Parameter(torch.randn(1, patches + 1, dim))
        self.patch_to_embedding = nn.Linear(channels * patch_size**2, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(emb_dropout)
        layer = nn.TransformerEncoderLayer(d_model=dim, nhead=heads, dim_feedforward=mlp_dim, dropout=dropout)
        self.transformer = nn.TransformerEncoder(layer, num_layers=depth)
        self.mlp_head = nn.Sequential(
            nn.Linear(dim, mlp_dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(mlp_dim, num_classes)
        )

    def patches(self, img):
        """(batch, patches, patch_size^2 * channels); a patch's numbers stand in the order that unfolding leaves."""
        p = self.patch_size
        return img.unfold(2, p, p).unfold(3, p, p).reshape(img.shape[0], -1, p * p * img.shape[1])

    def forward(self, img):
        x = self.patch_to_embedding(self.patches(img))
        x = torch.cat((self.cls_token.expand(img.shape[0], -1, -1), x), dim=1)
        x += self.pos_embedding
        x = self.transformer(self.dropout(x))
        return self.mlp_head(x[:, 0])


batch_size = 2
image_size = 224
patch_size = 16
num_classes = 10
dim = 512
depth = 6
heads = 8
mlp_dim = 2048
channels = 3
dropout = 0.0
emb_dropout = 0.0


def get_inputs():
    return [torch.rand(batch_size, channels, image_size, image_size)]


def get_init_inputs():
    return [image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels, dropout, emb_dropout]
