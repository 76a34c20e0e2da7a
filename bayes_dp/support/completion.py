"""What a prompt offers after a dot: the public names."""

from __future__ import annotations

__all__ = ["PublicNames"]


class PublicNames:
    """The base of what users hold; `dir` of it leaves out the names that begin with an underscore."""

    def __dir__(self) -> list[str]:
        return sorted(name for name in super().__dir__() if not name.startswith("_"))
