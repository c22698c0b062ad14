"""Checks of a whole directive: repeated, contradictory and missing clauses (OpenACC 3.4, 2)."""

from __future__ import annotations

from ..base.diagnostics import DiagnosticSink, error
from .records import (
    Clause,
    Directive,
    DirectiveKind,
    ExprClause,
    GangClause,
    ReductionClause,
    VarListClause,
)
from .rules import (
    DEPRECATED,
    PEER_CLAUSES,
    PEER_UPDATE,
    REPEATABLE_FORMS,
    DirectiveRule,
    exclusive_on,
)

_LEVEL_SIZES = (("gang", "num_gangs"), ("worker", "num_workers"), ("vector", "vector_length"))


def difference_is_sum(clause: Clause, sink: DiagnosticSink) -> None:
    """
    Turns `reduction(-:x)`, which is OpenMP's and which gcc and nvc accept, into a sum, with a warning: each
    copy begins at 0 and collects the subtracted values with a negative sign.
    """
    if isinstance(clause, ReductionClause) and clause.operator == "-":
        sink.warn(
            clause.loc,
            "'-' is not an OpenACC reduction operator: the copies are added, as for '+'",
            "write reduction(+: …)",
        )
        clause.operator = "+"


def deprecated_spelling(clause: Clause, sink: DiagnosticSink) -> None:
    """Warn about deprecated spellings, such as `pcopy` and `present_or_copy`."""
    if clause.spelling in DEPRECATED:
        sink.warn(clause.loc, f"'{clause.spelling}' is deprecated", f"write '{clause.name}'")


def check_directive(directive: Directive, rule: DirectiveRule) -> None:
    """Raise `CompileError` if the clauses of `directive` do not go together."""
    _check_repeats(directive, rule)
    _check_exclusive(directive)
    _check_needed(directive, rule)
    _check_names_once(directive)
    _check_one_copy(directive)
    if directive.is_compute:
        _check_gangs(directive)
    if directive.is_combined:
        check_level_arguments(directive, directive)


def _check_repeats(directive: Directive, rule: DirectiveRule) -> None:
    seen: dict[tuple[str, tuple[str, ...]], Clause] = {}
    for clause in directive.clauses:
        form = rule.clauses.get(clause.name)
        if form is None or form in REPEATABLE_FORMS:
            continue
        first = seen.setdefault((clause.name, clause.device_types), clause)
        if first is not clause:
            raise error(
                clause.loc,
                f"clause '{clause.spelling}' is given twice on '{directive.kind.value}'",
                "remove one of them",
                [(first.loc, "the first one is here")],
            )


def _check_exclusive(directive: Directive) -> None:
    groups = exclusive_on(directive.kind)
    for position, clause in enumerate(directive.clauses):
        for other in directive.clauses[:position]:
            if other.device_types != clause.device_types:
                continue
            if frozenset((clause.name, other.name)) in groups:
                raise error(
                    clause.loc,
                    f"clauses '{other.spelling}' and '{clause.spelling}' exclude each other",
                    "remove one of them",
                    [(other.loc, f"'{other.spelling}' is here")],
                )


def _check_needed(directive: Directive, rule: DirectiveRule) -> None:
    if rule is PEER_UPDATE:
        for name in PEER_CLAUSES:
            if not directive.has(name):
                raise error(
                    directive.loc,
                    f"'update peer' needs the clause '{name}'",
                    "write update peer to(…) to_device(n) from(…) from_device(m)",
                )
        return
    if rule.needs and not any(directive.has(name) for name in rule.needs):
        names = ", ".join(f"'{name}'" for name in rule.needs if "compression" not in name)
        which = "the clause" if len(rule.needs) == 1 else "at least one of the clauses"
        raise error(
            directive.loc,
            f"'{directive.kind.value}' needs {which} {names}",
            "add one, or remove the directive",
        )


def _check_names_once(directive: Directive) -> None:
    """Raise `CompileError` if a `declare` directive names a variable twice (2.13)."""
    if directive.kind is not DirectiveKind.DECLARE:
        return
    seen: dict[str, VarListClause] = {}
    for clause in directive.clauses:
        assert isinstance(clause, VarListClause)
        for item in clause.items:
            if item.name in seen:
                raise error(
                    item.loc,
                    f"'{item.name}' is given twice on 'declare'",
                    "name it in one clause",
                    [(seen[item.name].loc, "the other clause is here")],
                )
            seen[item.name] = clause


def _check_one_copy(directive: Directive) -> None:
    """
    Raise `CompileError` if a variable has two kinds of copy on a directive, or two reductions by different
    operators (2.5.14, 2.9.10, 2.9.11). On a combined directive 'firstprivate' is the compute construct's
    (2.11): 'private' hides it, but the result of a reduction would be lost with it.
    """
    seen: dict[str, Clause] = {}
    for clause in directive.clauses:
        if clause.name not in ("private", "firstprivate", "reduction"):
            continue
        if not isinstance(clause, VarListClause | ReductionClause):
            continue
        for item in clause.items:
            first = seen.setdefault(item.name, clause)
            hides = directive.is_combined and "reduction" not in (first.name, clause.name)
            if hides or _kind_of_copy(first) == _kind_of_copy(clause):
                continue
            raise error(
                item.loc,
                f"'{item.name}' in '{_kind_of_copy(first)}' and in '{_kind_of_copy(clause)}'",
                "name it in one of them",
                [(first.loc, f"'{first.name}' is here")],
            )


def _kind_of_copy(clause: Clause) -> str:
    is_reduction = isinstance(clause, ReductionClause)
    return f"reduction({clause.operator}:…)" if is_reduction else clause.name


def _check_gangs(directive: Directive) -> None:
    """Raise `CompileError` for a reduction with several arguments of `num_gangs` (2.5.13)."""
    for sizes in directive.all("num_gangs", ExprClause):
        if len(sizes.args) < 2:
            continue
        for clause in directive.clauses:
            if clause.name == "reduction":
                raise error(
                    clause.loc,
                    "'reduction' cannot be combined with a 'num_gangs' of several dimensions",
                    "give 'num_gangs' one argument",
                    [(sizes.loc, "'num_gangs' is here")],
                )


def check_level_arguments(directive: Directive, parent: Directive | None) -> None:
    """
    Raise `CompileError` for arguments of gang, worker and vector that are not allowed on a loop in the
    compute construct `parent` (the directive itself if it is combined; None for an orphaned loop; 2.9.2 to
    2.9.4): sizes of levels are allowed only in kernels without the construct's own clause, except that a
    vector length is allowed in parallel too; `dim` is not allowed in kernels.
    """
    construct = "parallel" if parent is None else parent.kind.construct
    where = "orphaned loops" if parent is None else f"'{parent.kind.value}'"
    for clause in directive.clauses:
        sized = False
        if isinstance(clause, GangClause):
            sized = clause.num is not None
            if clause.dim is not None and construct == "kernels":
                raise error(
                    clause.dim.loc, f"'gang(dim:)' is not allowed on {where}", "remove 'dim:'"
                )
        elif clause.name in ("worker", "vector") and isinstance(clause, ExprClause):
            sized = bool(clause.args)
        if not sized:
            continue
        size = dict(_LEVEL_SIZES)[clause.name]
        if construct == "serial" or (construct == "parallel" and clause.name != "vector"):
            remedy = f"write {size}(…)" if construct == "parallel" else "remove the argument"
            raise error(
                clause.loc,
                f"'{clause.name}' takes no size on {where}",
                remedy,
            )
        if construct == "kernels" and parent is not None and parent.has(size):
            raise error(
                clause.loc,
                f"'{clause.name}' takes no size beside '{size}'",
                "remove one of the two",
            )
