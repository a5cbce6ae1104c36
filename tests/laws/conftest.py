"""Sizes that make many pieces of small data."""

import pytest

from argmax.engines import shards as shard_sizes


@pytest.fixture
def many_pieces(monkeypatch):
    """Work for seven threads from small data: many blocks, many chunks."""
    monkeypatch.setattr(shard_sizes, "BLOCK_WORK", (500, 8000))


@pytest.fixture(params=["parts", "columns"])
def sums(request, monkeypatch, many_pieces):
    """Both ways to add up a gradient: private row parts, owners of columns."""
    if request.param == "columns":
        monkeypatch.setattr(shard_sizes, "PART_BYTES", 1)
    return request.param


@pytest.fixture
def many_shards(monkeypatch, many_pieces):
    """More shards than are added in one row, from a hundred rows of 8 numbers."""
    monkeypatch.setattr(shard_sizes, "BLOCK_WORK", (150, 4000))
    monkeypatch.setattr(shard_sizes, "SHARD_BYTES", 1600)
    monkeypatch.setattr(shard_sizes, "GRADIENTS", 0)
