"""The formats of the JSON files that this package writes, and what may change in them.

A file says what it is: {"format": "bayes-dp/bound/1", …}. So does a result inside of another, such as the verdict of a
comparison. The name is that of the kind of file, the number that of its version.

    posterior, shifted, families, bound, meaning, comparison, verdict, claim, plan, claim-plan, study, check,
    likelihoods, propensity, falsification, records, profile, sensitivity, leakage, steps, report                results
    counts                                                                                 error counts
    sequential                                                                             an audit under way
    checkpoint                                                                             finished draws of a bootstrap
    shadow-models                                                                          scores of trained models

What holds for all of them:

- The meaning of a field never changes within a version. What means something else gets another name.
- A field that a reader has to know, or the loss of one, is a new version.
- Whoever reads a version reads all before it. Files from before there were formats are of the version 1.
- The unknown is refused in a sentence: another kind of file, a later version, a field that is not known, a value that
  cannot have been written. Nothing is guessed, and nothing passed over.
- Numbers are in full precision. What is not finite is null: an infinite bound, a mean that does not exist.
"""

from __future__ import annotations

from typing import Any

from bayes_dp.checks import InputError, show

__all__ = ["without_format"]


def without_format(name: str, content: Any, wanted: str) -> Any:
    """The content without its format, which has to be the one that is `wanted`, or missing."""
    if not isinstance(content, dict):
        return content
    found = content.get("format", wanted)
    if found != wanted:
        raise InputError(f"{name} is of the format {show(found)}, and what is read here is {show(wanted)}")
    return {key: value for key, value in content.items() if key != "format"}
