"""Records: views that cut without copying."""

import dataclasses

import numpy as np
import pytest

from argmax.records import Csr, Scores, Solution, Structures, Truth

ROWS = Csr(np.array([0, 2, 2, 3, 6]), np.array([0, 2, 1, 0, 1, 2]), np.arange(6.0), 3)


def test_csr_knows_its_shape_and_entries():
    assert (len(ROWS), ROWS.shape, ROWS.entries, ROWS.dtype) == (4, (4, 3), 6, np.float64)
    assert Csr(ROWS.indptr, ROWS.indices, None, 3).dtype == np.float32


@pytest.mark.parametrize(
    ("cut", "rows", "entries"),
    [(slice(1, 3), 2, 1), (slice(0, 0), 0, 0), (slice(2, None), 2, 4), (slice(-1, 99), 1, 3)],
)
def test_a_slice_of_csr_is_a_view(cut, rows, entries):
    part = ROWS[cut]
    assert (len(part), part.entries, part.width) == (rows, entries, 3)
    assert part.values is ROWS.values
    assert np.shares_memory(part.indptr, ROWS.indptr)


def test_a_slice_of_a_slice_keeps_its_place():
    again = ROWS[1:][2:]
    first, last = again.indptr
    assert again.values[first:last].tolist() == [3.0, 4.0, 5.0]


def test_classes_have_one_node_each():
    structures = Structures(np.zeros((5, 2)))
    assert (len(structures), structures.nodes, structures.node_range(1, 3)) == (5, 5, (1, 3))
    assert len(structures[1:4]) == 3


def test_a_block_of_sequences_starts_again_at_zero():
    structures = Structures(np.arange(12.0).reshape(6, 2), np.array([0, 2, 3, 6]))
    block = structures[1:3]
    assert (len(structures), len(block), block.nodes) == (3, 2, 4)
    assert block.offsets.tolist() == [0, 1, 4]
    assert block.rows[0].tolist() == [4.0, 5.0]
    assert np.shares_memory(block.rows, structures.rows)


def test_a_block_has_the_edges_between_its_nodes():
    edges = np.array([[1, 0], [0, 2], [4, 3], [3, 5], [6, 5]])
    structures = Structures(
        np.zeros((8, 1)), np.array([0, 3, 7, 8]), edges, np.arange(5), np.arange(10.0).reshape(5, 2)
    )
    block = structures[1:3]
    assert block.edges.tolist() == [[1, 0], [0, 2], [3, 2]]
    assert block.edge_kind.tolist() == [2, 3, 4]
    assert block.edge_rows[0].tolist() == [4.0, 5.0]
    assert structures[2:3].edges.shape == (0, 2)


def test_a_block_of_truth_takes_nodes_and_examples():
    truth = Truth(np.arange(6), np.array([1.0, 2.0, 3.0]), np.eye(2), np.ones((6, 2), bool))
    block = truth.block(slice(1, 3), slice(2, 6))
    assert block.labels.tolist() == [2, 3, 4, 5]
    assert block.weight.tolist() == [2.0, 3.0]
    assert block.allowed.shape == (4, 2)
    assert block.cost is truth.cost
    assert Truth(np.arange(3)).block(slice(0, 1), slice(0, 1)).weight is None


def test_scores_count_examples_and_labels():
    assert len(Scores(np.zeros((4, 3)))) == 4
    scores = Scores(np.zeros((4, 3)), None, np.array([0, 1, 4]))
    assert (len(scores), scores.labels) == (2, 3)


def test_records_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ROWS.width = 5


@pytest.mark.parametrize("status", ["converged", "max_iter", "stalled"])
def test_a_solution_is_converged_by_its_status_alone(status):
    solution = Solution(np.zeros(2), 1.0, 0.1, 0.05, status, "", "newton", 3, 0.1, [])
    assert solution.converged == (status == "converged")
    assert "history" not in repr(solution)
