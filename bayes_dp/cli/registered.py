"""The verbs of those audits of `audits/registry.py` that have none of their own: they take what `compare` takes."""

from __future__ import annotations

from collections.abc import Callable

from bayes_dp.audits.registry import INDEX
from bayes_dp.cli import repeated, zero_run  # noqa: F401  which have verbs of their own
from bayes_dp.cli.audit import audit, report
from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    AsJson,
    Baseline,
    Brief,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Counts,
    Delta,
    Examples,
    FailAbove,
    HowCounted,
    MeaningToo,
    Overlap,
    ScoresToo,
)
from bayes_dp.cli.program import read_counts

__all__: list[str] = []


def _verb(name: str) -> Callable[..., int]:
    def run(
        file: Counts,
        delta: Delta,
        confidence: Confidence = 0.95,
        design: HowCounted = None,
        examples: Examples = None,
        as_json: AsJson = False,
        brief: Brief = False,
        fail_above: FailAbove = None,
        claim_epsilon: ClaimEpsilon = None,
        claim_dp_sgd: ClaimDpSgd = None,
        overlap: Overlap = None,
        scores: ScoresToo = None,
        baseline: Baseline = None,
        meaning: MeaningToo = False,
    ) -> int:
        claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
        counts = read_counts(file, design, examples)
        other = None if baseline is None else read_counts(baseline, counts.design, counts.examples)

        from bayes_dp.audits.base import Inputs
        from bayes_dp.audits.registry import audit as audit_named
        from bayes_dp.checks import InputError
        from bayes_dp.data.guess_table import GuessTable
        from bayes_dp.results.bound import LowerBound

        table = None if scores is None else GuessTable.read(scores)
        inputs = Inputs(delta, confidence, overlap, other, table)
        found = audit_named(name).on(counts, inputs)
        if fail_above is not None and not isinstance(found, LowerBound):
            raise InputError(f"--fail-above is for lower bounds, which {name} does not give")
        code = report({"all": found}, as_json, fail_above, meaning=meaning, brief=brief)
        return code if claim is None else worst(code, tell({"all": claim.test(found)}, as_json))

    return run


_own = {command.name for command in audit.registered_commands}
for _name, _entry in INDEX.items():
    if not {_name, _entry.family} & _own:
        _words = f"{_entry.what[:1].upper()}{_entry.what[1:]}."
        audit.command(_name, cls=Verb, help=f"{_words}\n\nFILE is as for bayes-dp estimate.", short_help=_words)(
            _verb(_name)
        )
