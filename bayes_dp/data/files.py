"""Files: text is read whole with a limit on its size; text and bytes are written atomically."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from bayes_dp.checks import InputError, show

__all__ = [
    "MAX_BYTES",
    "Source",
    "check_writable",
    "printable",
    "read_text",
    "remove_temporary",
    "write_bytes_atomically",
    "write_text_atomically",
    "write_text_if_new",
]

MAX_BYTES = 100_000_000
_CHUNK = 1_000_000  # since Python sets aside all that is asked for

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")

Source = str | os.PathLike[str] | IO[str] | IO[bytes]


def read_text(source: Source) -> tuple[str, str]:
    """The name of a file (for messages) and its text, with line ends made "\\n"; `source` is a path or an open file.

    UTF-8 is read with or without its mark, UTF-16 with its mark. Whatever goes wrong is an InputError.
    """
    is_path = isinstance(source, str | os.PathLike)
    if not is_path and not hasattr(source, "read"):
        raise InputError(f"a path or an open file is needed, not {type(source).__name__}")
    name = printable(source if is_path else getattr(source, "name", None) or None)
    try:
        if isinstance(source, str | os.PathLike):
            with open(source, "rb") as file:
                content = _read_up_to_limit(file)
        else:
            content = _read_up_to_limit(source)
    except Exception as error:  # an open file may be of any class (compressed, remote) and so raise anything
        raise InputError(f"{name} cannot be read: {_reason(error)}") from error
    if len(content) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES // 1_000_000} MB, the most that is read")
    text = _decoded(name, content) if isinstance(content, bytes) else content
    text = text.removeprefix("\ufeff")
    if (place := text.find("\0")) >= 0:
        line = _line_ends_unified(text[:place]).count("\n") + 1
        raise InputError(f"{name}, line {line}: a NUL byte shows that this is not a text file; save it as UTF-8 text")
    return name, _line_ends_unified(text)


def write_text_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8, like `write_bytes_atomically`."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{printable(path)} cannot be written: {_reason(error)}") from error
    write_bytes_atomically(path, content)


def write_bytes_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` so that `path` holds either its old content or all of the new, never a part."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a path, not {type(path).__name__}")
    try:
        target = os.path.realpath(path)  # so that a symbolic link stays one
        if os.path.exists(target) and not os.path.isfile(target):  # a pipe or /dev/stdout must not be replaced
            with open(target, "wb") as file:
                file.write(content)
            return
        try:
            _replace(target, content)
        except FileNotFoundError:  # also where another process took the temporary file for a left-over one
            _replace(target, content)
    except (OSError, ValueError) as error:
        raise InputError(f"{printable(path)} cannot be written: {_reason(error)}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before the work whose result is to be written there."""
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.isfile(target) or not os.path.exists(target):
            with _temporary(os.path.dirname(target), b""):
                pass
    except (OSError, ValueError) as error:
        raise InputError(f"{printable(path)} cannot be written: {_reason(error)}") from error


def write_text_if_new(path: str | os.PathLike[str], text: str) -> bool:
    """Write `text` to a file that is not there yet, and say whether this was done; of several at once, one succeeds.

    Where the file system has no links, another process may see the file before all of it is written.
    """
    try:
        with _temporary(os.path.dirname(os.path.abspath(path)), text.encode()) as temporary:
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
            except OSError:
                with open(path, "x", encoding="utf-8") as file:
                    file.write(text)
    except FileExistsError:
        return False
    except (OSError, ValueError) as error:
        raise InputError(f"{printable(path)} cannot be written: {_reason(error)}") from error
    return True


def remove_temporary(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files that killed processes have left in a folder."""
    for name in os.listdir(folder):
        if _TEMPORARY.fullmatch(name):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def _replace(target: str, content: bytes) -> None:
    with _temporary(os.path.dirname(target), content) as temporary:
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)


@contextmanager
def _temporary(folder: str, content: bytes) -> Iterator[str]:
    """The path of a new file with this content, which is gone in the end."""
    path = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    try:
        with open(path, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def printable(path: Any) -> str:
    """A path as one line of a message."""
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str):
        return "the input"
    return path if path.isprintable() and 0 < len(path) <= 300 else show(path)


def _reason(error: Exception) -> str:
    """The text of an error as the end of a one-line message."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    text = "".join(c if c.isprintable() else " " for c in text[:200])
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _read_up_to_limit(file: Any) -> str | bytes:
    """The content of an open file, or just over MAX_BYTES of it; a read may give less than asked for."""
    chunks: list[Any] = []
    size = 0
    while size <= MAX_BYTES and (chunk := file.read(min(_CHUNK, MAX_BYTES + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    content: str | bytes = type(chunks[0])().join(chunks) if chunks else b""
    return content


def _decoded(name: str, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        start = error.start
    line = _line_ends_unified(data[:start].decode(encoding, "replace")).count("\n") + 1
    raise InputError(
        f"{name}, line {line}: byte 0x{data[start]:02x} at offset {start} is not {encoding.upper()} text; "
        "save the file as UTF-8"
    )


def _line_ends_unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
