"""NetVLAD pooling with ghost clusters, which take up what belongs to no cluster."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    """(batch, samples, feature_size) -> (batch, cluster_size * feature_size), of unit length.

    Samples are softly assigned to clusters (normalised over the batch, in train mode); each cluster keeps the sum of its samples' distances
    from its centre. Ghost clusters take part in the softmax and are thrown away after it."""

    def __init__(self, cluster_size: int, feature_size: int, ghost_clusters: int):
        super().__init__()
        self.feature_size = feature_size
        self.cluster_size = cluster_size
        scale = 1 / math.sqrt(feature_size)
        self.clusters = nn.Parameter(scale * torch.randn(feature_size, cluster_size + ghost_clusters))
        self.batch_norm = nn.BatchNorm1d(cluster_size + ghost_clusters)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, feature_size, cluster_size))  # the centres

    def forward(self, x):
        samples = x.size(1)
        logits = self.batch_norm(torch.matmul(x.view(-1, self.feature_size), self.clusters))
        weights = F.softmax(logits, dim=1)[:, : self.cluster_size].view(-1, samples, self.cluster_size)
        centres = weights.sum(dim=1, keepdim=True) * self.clusters2
        vlad = torch.matmul(weights.transpose(1, 2), x.view(-1, samples, self.feature_size)).transpose(1, 2) - centres
        vlad = F.normalize(vlad)  # each cluster's residual, over the features
        return F.normalize(vlad.reshape(-1, self.cluster_size * self.feature_size))


batch_size = 2048
num_features = 100
num_clusters = 32
feature_size = 512
ghost_clusters = 16


def get_inputs():
    return [torch.rand(batch_size, num_features, feature_size)]


def get_init_inputs():
    return [num_clusters, feature_size, ghost_clusters]
