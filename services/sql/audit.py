"""What is to be known of a gold before anybody is paid by it: warnings, and how well it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from services.sql.engines.clock import speaks_of_now
from services.sql.instances.generate import says_nothing
from services.sql.shape import Shape, cuts_a_tie

if TYPE_CHECKING:
    from services.sql.gold import Gold, Instance
    from services.sql.results import Result
    from services.sql.spec import SqlSpec


def audit_of(
    spec: SqlSpec,
    gold: Gold,
    results: list[Result],
    shapes: list[Shape],
    chosen: dict[str, Any] | None,
    *,
    is_repeatable: bool,
) -> dict[str, Any]:
    """Return the audit; `results` are those of the first gold, the given database first.

    `mutation_score` is the part of the near misses that the databases tell apart, and
    `mutation_score_given` the part that the given ones do alone.
    """
    given = gold.instances[0]
    warnings = _of_result(results[0], given)
    if any(speaks_of_now(sql) for sql in spec.golds):
        warnings.append("clock_dependent")
    warnings += _of_order(shapes, given)
    if not gold.reads_tables:
        warnings.append("constant")
    if not is_repeatable:
        warnings.append("not_deterministic")
    audit: dict[str, Any] = {
        "warnings": warnings,
        "vacuous": not any(result.rows for result in results),
        "instances": len(gold.instances),
        "ordered": given.expected[0].is_ordered,
        "tables": sorted(results[0].tables),
        "rows": len(results[0].rows),
    }
    if chosen and chosen["mutants"]:
        audit["mutants"] = chosen["mutants"]
        audit["mutation_score"] = round(chosen["killed"] / chosen["mutants"], 4)
        audit["mutation_score_given"] = round(chosen["killed_by_given"] / chosen["mutants"], 4)
    return audit


def _of_result(result: Result, given: Instance) -> list[str]:
    warnings = []
    if not result.rows:
        warnings.append("empty")
    elif says_nothing(result):
        warnings.append("says_nothing")
    if any(cuts_a_tie(expected) for expected in given.expected):
        warnings.append("tie_at_limit")
    return warnings


def _of_order(shapes: list[Shape], given: Instance) -> list[str]:
    warnings = []
    if any(s.is_cut and not s.is_ordered for s in shapes):
        warnings.append("limit_without_order")
    if any(s.is_ordered and not e.is_certain for s, e in zip(shapes, given.expected, strict=True)):
        warnings.append("ties_unknown")
    return warnings
