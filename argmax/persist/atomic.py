"""Writing a file whole or not at all, whatever kills the process.

    temporary file in the same folder → write → flush → fsync → replace the target → fsync the folder

Until the replacement the old file is there, afterwards the new one; POSIX knows nothing in between. Errors
leave the old file and no other. A process that is killed may leave a hidden ``.NAME.….part`` beside the
target: nothing reads it, and it may be deleted.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from .. import checks
from ..errors import CannotWrite

__all__ = ["check_writable", "replace_file"]

ADVICE = {
    errno.ENOENT: "Make the folder first.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.EACCES: "Choose a folder that you may write to.",
    errno.EPERM: "Choose a folder that you may write to.",
    errno.EROFS: "Choose a folder on a disk that is not read-only.",
    errno.ENOSPC: "Free some space, or choose another disk.",
    errno.EDQUOT: "Free some space, or choose another disk.",
    errno.EFBIG: "Raise the limit on the size of files, or choose another disk.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}

Path = str | os.PathLike[str]


def replace_file(path: Path, write: Callable[[IO[bytes]], Any], *, overwrite: bool = False) -> None:
    """Call ``write`` with a binary stream, and let ``path`` be what it wrote, in one step.

    Refuses what ``check_writable`` refuses. Whatever ``write`` raises goes on, and nothing was written.

    >>> import pathlib, tempfile
    >>> from argmax.persist import replace_file
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> replace_file(folder / "answer.txt", lambda stream: stream.write(b"42"))
    >>> (folder / "answer.txt").read_bytes(), len(list(folder.iterdir()))
    (b'42', 1)
    """
    target = checks.file_name(path)
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name[:60]}.{secrets.token_hex(6)}.part")
    with _explained(target, part):
        _check(target, overwrite)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(part, flags, 0o666)  # less what the user's umask takes away
        try:
            with open(descriptor, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(descriptor)
            _check(target, overwrite)  # something may have come in between
            os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise
    _sync_folder(folder or os.curdir)


def check_writable(path: Path, *, overwrite: bool = False) -> None:
    """Refuse, before the work is done, a path that ``replace_file`` could not write to afterwards.

    A file that is there is refused unless ``overwrite``. A folder, a device and a symbolic link always are:
    to replace a link would cut it, and to follow it would write where nobody pointed to.

    >>> from argmax.persist import check_writable
    >>> check_writable(".")
    Traceback (most recent call last):
    argmax.errors.CannotWrite: '.' is a folder. Give the name of a file in it.
    """
    target = checks.file_name(path)
    with _explained(target):
        _check(target, overwrite)
        folder = os.path.dirname(target) or os.curdir
        os.stat(folder)
        effective = os.access in os.supports_effective_ids
        if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
            raise PermissionError(errno.EACCES, "its folder cannot be written to", target)


def _check(target: str, overwrite: bool) -> None:
    if "\0" in target:
        raise CannotWrite(f"{target!r} has a NUL character, which no name of a file may have.")
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        if not os.path.basename(target):
            raise CannotWrite(f"{target!r} names a folder. Give the name of a file.") from None
        return
    if stat.S_ISLNK(mode):
        raise CannotWrite(f"{target!r} is a symbolic link. Give the path that it points to.")
    if stat.S_ISDIR(mode):
        raise CannotWrite(f"{target!r} is a folder. Give the name of a file in it.")
    if not stat.S_ISREG(mode):
        raise CannotWrite(f"{target!r} is not a regular file. Choose another path.")
    if not overwrite:
        raise CannotWrite(f"{target!r} exists. Choose another path, or allow it to be overwritten.")


@contextmanager
def _explained(target: str, part: str | None = None) -> Iterator[None]:
    """What the system refuses, as our error; but not what it says of files that ``write`` reads."""
    try:
        yield
    except CannotWrite:
        raise
    except OSError as error:
        if error.filename not in (None, target, part, os.path.dirname(target)):
            raise
        reason = error.strerror or str(error)
        advice = ADVICE.get(error.errno or 0, "Nothing was written.")
        raise CannotWrite(f"{target!r} cannot be written: {reason}. {advice}") from error


def _sync_folder(folder: str) -> None:
    """Make the new name last. Some systems cannot, and the file is whole either way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
