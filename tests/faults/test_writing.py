"""Faults 27, 30 and 31: paths that must not be written, kills in the middle, disks that are full."""

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from argmax import LinearClassifier, SoftmaxRegression, load, save
from argmax.errors import CannotWrite
from argmax.persist import Checkpoint
from tests.faults.cases import problem, refuses, same_bits
from tests.faults.harness import alone
from tests.fuzz import kill

NOBODY = 65534

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
needs_users = pytest.mark.skipif(not hasattr(os, "seteuid"), reason="this system has no users")


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


def fitted():
    return SoftmaxRegression().fit(*problem())


def refused(model, path, *says, **options):
    refuses(lambda: save(model, path, **options), says=(repr(path), *says), error=CannotWrite)


@alone
def test_27_a_path_that_exists_is_a_folder_a_link_or_nowhere(tmp):
    os.chdir(tmp)
    model = fitted()
    save(model, "old")
    before = Path("old").read_bytes()
    os.mkdir("folder")
    os.symlink("old", "link")
    os.symlink("nowhere", "dangling")
    os.symlink("folder", "folder link")
    refused(model, "old", "exists")
    for overwrite in (False, True):
        refused(model, "folder", "is a folder", overwrite=overwrite)
        refused(model, "link", "symbolic link", overwrite=overwrite)
        refused(model, "dangling", "symbolic link", overwrite=overwrite)
        refused(model, "folder link", "symbolic link", overwrite=overwrite)
        refused(model, "missing/model", "Make the folder first", overwrite=overwrite)
        refused(model, "old/model", "not a folder", overwrite=overwrite)
        refused(model, "x" * 300, "shorter name", overwrite=overwrite)
        refused(model, os.devnull, "not a regular file", overwrite=overwrite)
    assert sorted(os.listdir(".")) == ["dangling", "folder", "folder link", "link", "old"]
    assert os.listdir("folder") == []
    assert Path("old").read_bytes() == before
    other = LinearClassifier(C=3.0).fit(*problem())
    save(other, "old", overwrite=True)
    assert same_bits(load("old"), other)


@contextmanager
def as_nobody():
    """Nothing is forbidden to the superuser, so tests that run as one stop being it for a while."""
    superuser = os.geteuid() == 0
    try:
        os.seteuid(NOBODY if superuser else os.geteuid())
        yield
    finally:
        os.seteuid(0 if superuser else os.geteuid())


@needs_users
@alone
def test_27_a_folder_without_permission():
    model, (X, y) = fitted(), problem()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        save(model, path)
        before = Path(path).read_bytes()
        os.chmod(folder, 0o555)
        with as_nobody():
            refused(model, path, "Permission denied", "may write to", overwrite=True)
            refused(model, path + "2", "Permission denied")
            training = LinearClassifier(callbacks=[Checkpoint(path + "3")])
            refuses(lambda: training.fit(X, y), says=("cannot be written",), error=CannotWrite)
        assert os.listdir(folder) == ["model"]
        assert Path(path).read_bytes() == before
        os.chmod(folder, 0o755)


@needs_fork
@alone
def test_30_killed_at_random_moments_of_training_and_saving(tmp):
    found = kill.run(12, Path(tmp))
    assert found["checkpoints"] + found["models"] > 0


def twice(x):
    return 2.0 * x


@alone
def test_31_a_full_disk_leaves_the_old_file_and_nothing_else(tmp):
    import resource  # not on every system

    X, y = problem()
    model, path = fitted(), os.path.join(tmp, "model")
    save(model, path)
    before = Path(path).read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))  # no file may be longer
    refused(model, path, "File too large", "another disk", overwrite=True)
    refused(model, path + "2", "File too large")
    training = LinearClassifier(callbacks=[Checkpoint(path + "3", every=0)])
    refuses(lambda: training.fit(X, y), says=("File too large",), error=CannotWrite)
    assert not hasattr(training, "coef_")
    assert os.listdir(tmp) == ["model"]
    assert Path(path).read_bytes() == before
    os.environ["ARGMAX_CACHE_DIR"] = os.path.join(tmp, "cache")
    from argmax.kernels.compile import cache_folder, kernel

    assert cache_folder() is not None  # until it is full
    assert kernel(twice)(21.0) == 42.0


@alone
def test_31_no_home_folder(tmp):
    for name in ("ARGMAX_CACHE_DIR", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    os.environ["HOME"] = os.path.join(tmp, "home")
    Path(os.environ["HOME"]).write_bytes(b"a file where a folder should be")
    from argmax.kernels.compile import cache_folder, kernel

    assert cache_folder() is None
    assert kernel(twice)(21.0) == 42.0
    model = fitted()
    save(model, os.path.join(tmp, "model"))
    assert same_bits(load(os.path.join(tmp, "model")), model)


@alone
def test_27_no_free_descriptor_is_the_cause_that_is_named(tmp):
    resource = pytest.importorskip("resource")
    model, path = fitted(), os.path.join(tmp, "model")
    save(model, os.path.join(tmp, "another"))  # what is imported on the way is there
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    taken = []
    with suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    try:
        refused(model, path, "Too many open files")
        model.fit(*problem())  # which needs none
    finally:
        for descriptor in taken:
            os.close(descriptor)
    assert os.listdir(tmp) == ["another"]
    save(model, path)
