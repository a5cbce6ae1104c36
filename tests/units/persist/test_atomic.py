"""Files are written whole or not at all."""

import errno
import os

import pytest

from argmax.errors import CannotWrite
from argmax.persist import atomic, check_writable, replace_file


def put(path, content=b"new", **options):
    replace_file(path, lambda stream: stream.write(content), **options)


def test_a_new_file_has_the_content_and_nothing_is_beside_it(tmp_path):
    put(tmp_path / "a")
    put(str(tmp_path / "b"), b"")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_the_umask_decides_who_may_read(tmp_path):
    before = os.umask(0o027)
    try:
        put(tmp_path / "a")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_relative_path_is_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable("a")
    put("a")
    assert os.listdir(tmp_path) == ["a"]


def test_an_old_file_is_kept_unless_it_may_be_overwritten(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(CannotWrite, match=r"exists. Choose another path"):
        put(path)
    with pytest.raises(CannotWrite, match="exists"):
        check_writable(path)
    assert path.read_bytes() == b"old"
    check_writable(path, overwrite=True)
    put(path, overwrite=True)
    assert path.read_bytes() == b"new"


def refused(path, words):
    for overwrite in (False, True):
        for attempt in (put, check_writable):
            with pytest.raises(CannotWrite, match=words):
                attempt(path, overwrite=overwrite)


def test_a_link_is_neither_cut_nor_followed(tmp_path):
    target, link, dangling = tmp_path / "target", tmp_path / "link", tmp_path / "dangling"
    target.write_bytes(b"old")
    link.symlink_to(target)
    dangling.symlink_to(tmp_path / "nothing")
    refused(link, "symbolic link. Give the path that it points to")
    refused(dangling, "symbolic link")
    assert link.is_symlink()
    assert target.read_bytes() == b"old"
    assert not (tmp_path / "nothing").exists()


def test_what_is_no_file_is_refused(tmp_path):
    refused(tmp_path, "is a folder. Give the name of a file in it")
    refused(f"{tmp_path}/new/", "names a folder")
    refused(tmp_path / "new" / "a", "No such file or directory. Make the folder first")
    (tmp_path / "file").write_bytes(b"")
    refused(tmp_path / "file" / "a", "Not a directory. A part of the path is a file")
    refused(tmp_path / ("a" * 300), "name too long. Choose a shorter name")
    refused("", "names a folder")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        refused(tmp_path / "pipe", "not a regular file")
    assert sorted(os.listdir(tmp_path)) in (["file"], ["file", "pipe"])


def test_a_long_name_fits_if_the_system_lets_it(tmp_path):
    put(tmp_path / ("a" * 255))


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EIO, "Nothing was written"),
        (errno.EROFS, "read-only"),
    ],
)
def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path, code, advice):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(stream):
        stream.write(b"half of")
        raise OSError(code, os.strerror(code))

    with pytest.raises(CannotWrite, match=advice):
        replace_file(path, fail, overwrite=True)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a"])


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_error_at_the_end_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*arguments):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(CannotWrite, match=r"full. Free some space"):
        put(path, overwrite=True)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a"])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_what_the_writer_raises_goes_on(tmp_path, error):
    def fail(stream):
        raise error

    with pytest.raises(error):
        replace_file(tmp_path / "a", fail)
    assert os.listdir(tmp_path) == []


def test_an_error_about_another_file_is_not_blamed_on_this_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "a", lambda stream: (tmp_path / "input").read_bytes())
    assert os.listdir(tmp_path) == []


def test_a_file_that_comes_meanwhile_is_kept(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(CannotWrite, match="exists"):
        replace_file(path, lambda stream: path.write_bytes(b"theirs"))
    assert path.read_bytes() == b"theirs"


def test_the_file_is_on_disk_before_its_name_is(tmp_path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(atomic.os, name, lambda *a, n=name, r=real: (steps.append(n), r(*a)))
    put(tmp_path / "a")
    assert steps == ["fsync", "replace", "fsync"]
