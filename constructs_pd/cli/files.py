"""Files that a command writes: all are checked before any is written, and none is ever half written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copymode
from stat import S_ISDIR, S_ISREG


class NotWrittenError(Exception):
    """A file cannot be written; its text says which and why."""


def check_outputs(outputs: Mapping[str, Path], *, read: Path, force: bool) -> None:
    """Say before any work whether files can be written.

    Args:
        outputs: The files, by the option that names each.
        read: The file that the command reads; it is never replaced.
        force: Whether files that exist are replaced.

    Raises:
        NotWrittenError: A file cannot be written, would be replaced without force, or is named twice.
    """
    named: dict[Path, str] = {}
    for option, path in outputs.items():
        try:
            target = _target(path)
            if read.exists() and target.exists() and target.samefile(read):
                raise NotWrittenError(f"{option} names {path}, which is read: name another file")
            if target in named:
                raise NotWrittenError(f"{named[target]} and {option} both name {path}: name two files")
            _check(option, path, target, force=force)
        except (OSError, ValueError) as error:  # a path may hold a null character
            raise _not_written(option, path, error) from None
        named[target] = option


def write_outputs(outputs: Sequence[tuple[str, Path, bytes]], *, force: bool) -> None:
    """Write files that were checked: each beside its place first, and then all take their places.

    Args:
        outputs: The option, the path and the content of each.
        force: Whether files that exist are replaced: one may have been made since the check.

    Raises:
        NotWrittenError: A file cannot be written, or would be replaced without force; none was replaced by a part of
            itself.
    """
    fresh: list[tuple[str, Path, Path]] = []
    held: list[Path] = []
    try:
        for option, path, content in outputs:
            target = _target(path)
            beside = _beside(target)
            fresh.append((option, beside, target))
            try:
                beside.write_bytes(content)
                if target.exists():
                    copymode(target, beside)
            except OSError as error:
                raise _not_written(option, path, error) from None
        for option, _, target in [] if force else fresh:
            _hold(option, target)
            held.append(target)
        for option, beside, target in fresh:
            try:
                beside.replace(target)
            except OSError as error:
                raise _not_written(option, target, error) from None
            if target in held:
                held.remove(target)
    finally:
        for path in (*(beside for _, beside, _ in fresh), *held):
            path.unlink(missing_ok=True)


def _hold(option: str, target: Path) -> None:
    """Take a place that must be free, with an empty file."""
    try:
        target.open("xb").close()
    except FileExistsError:
        raise _exists(option, target) from None
    except OSError as error:
        raise _not_written(option, target, error) from None


def _target(path: Path) -> Path:
    """Return what a path stands for, should it be a link: the link stays."""
    return path.resolve()


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}")


def _check(option: str, path: Path, target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise NotWrittenError(f"{option}: there is no folder {path.parent}: make it, or name a file in one that exists")
    if target.exists():
        mode = target.stat().st_mode
        if not S_ISREG(mode):
            kind = "a folder" if S_ISDIR(mode) else "no regular file"
            raise NotWrittenError(f"{option}: {path} is {kind}: name a file")
        if not force:
            raise _exists(option, path)
        target.open("ab").close()
    beside = _beside(target)
    beside.open("xb").close()
    beside.unlink()


def _exists(option: str, path: Path) -> NotWrittenError:
    return NotWrittenError(f"{option}: {path} exists: add --force to replace it, or name another file")


def _not_written(option: str, path: Path, error: Exception) -> NotWrittenError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return NotWrittenError(f"{option}: {path} cannot be written: {reason}")
