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
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from ..errors import CannotWrite

__all__ = ["replace_file"]

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


def replace_file(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any], *, overwrite: bool = False
) -> None:
    """Call ``write`` with a binary stream, and let ``path`` be what it wrote, in one step.

    A file that is already there is refused unless ``overwrite``. A folder, a device or a symbolic link is
    refused always: replacing a link would cut it, and following it would write where nobody pointed to.
    Whatever ``write`` raises goes on, and then nothing was written.

    >>> import tempfile, pathlib
    >>> from argmax.persist import replace_file
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> replace_file(folder / "answer.txt", lambda stream: stream.write(b"42"))
    >>> (folder / "answer.txt").read_bytes(), len(list(folder.iterdir()))
    (b'42', 1)
    """
    target = os.fspath(path)
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name[:60]}.{secrets.token_hex(6)}.part")
    try:
        check_target(target, overwrite)
        _replace(target, part, write, overwrite)
        _sync_folder(folder or os.curdir)
    except CannotWrite:
        raise
    except OSError as error:
        if error.filename not in (None, target, part):
            raise  # of another file, which ``write`` wanted to read
        reason = error.strerror or str(error)
        advice = ADVICE.get(error.errno or 0, "Nothing was written.")
        raise CannotWrite(f"{target!r} cannot be written: {reason}. {advice}") from error


def check_target(target: str, overwrite: bool) -> None:
    """Refuse a target that must not be written, before any work is done for it."""
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


def _replace(target: str, part: str, write: Callable[[IO[bytes]], Any], overwrite: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, 0o666)  # the user's umask takes its share
    try:
        with open(descriptor, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        check_target(target, overwrite)  # it may have come meanwhile
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def _sync_folder(folder: str) -> None:
    """Make the new name last. Some systems cannot, and the file is whole either way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
