"""Compare equations: names with values, chains, normal forms, congruences.

`x = 5` and `f(x) = 2x` say of a name what it is; only such an equation can stand for a value. A
chain of constants (`2 + 5 = 7`) is its last member if all are equal, and contradicts itself if not.
Any other equation is compared as `left - right`, up to a constant factor.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from services.math.algebra import normal
from services.math.language.vocabulary import KNOWN_FUNCTIONS
from services.math.lists import in_any_order
from services.math.tree import (
    MINUS_ONE,
    VALUES,
    Call,
    Number,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
    children,
    substituted,
    walk,
)
from services.math.values import (
    UNKNOWN,
    Finding,
    form_of,
    is_constant,
    real_value,
    same_value,
)

if TYPE_CHECKING:
    from services.math.algebra.normal import Form
    from services.math.structure import Matcher
    from services.math.tree import Tree, Value

_EQUALS: Final = frozenset(("=", "~"))
_ABOUT: Final = Fraction(1, 100)
"""Two numbers with "about" between them are two answers, unless they are within one percent."""
_STRUCTURAL_NO: Final = Finding(False, "structural")


class Claim(NamedTuple):
    """What an equation says: that `name` is each of `values` (of a chain of constants, no name)."""

    name: Tree | None
    values: tuple[Tree, ...]
    contradicts_itself: bool


def same_relation(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare where at least one side is an equation or a congruence."""
    if _is_congruence(gold) or _is_congruence(answer):
        return _same_congruence(matcher, gold, answer)
    if _is_equation(gold) and _is_equation(answer):
        return _same_equations(matcher, gold, answer)
    if _is_equation(gold):
        return _value_for_equation(matcher, gold, answer)
    return _equation_for_value(matcher, gold, answer) if _is_equation(answer) else None


def _is_equation(tree: Tree) -> bool:
    return isinstance(tree, Relation) and _EQUALS.issuperset(tree.operators)


def claim(matcher: Matcher, equation: Tree) -> Claim | None:
    """Return what an equation says of a name, or None if it only relates values."""
    if not isinstance(equation, Relation):
        return None
    operands, operators = equation.operands, equation.operators
    if len(operands) == 2 and _is_name(operands[1]) and not _is_name(operands[0]):
        operands = operands[::-1]  # 5 = x
    name = operands[0] if _is_name(operands[0]) else None
    if name is None and not all(_is_known(operand) for operand in operands):
        return None
    if name is not None:
        operands, operators = operands[1:], operators[1:]
    wrong = any(
        _contradict(matcher, left, right, operator)
        for left, right, operator in zip(operands, operands[1:], operators, strict=False)
    )
    is_about = bool(operators) and operators[-1] == "~"
    return Claim(name, operands[-2:] if is_about else operands[-1:], wrong)


def _is_name(tree: Tree) -> bool:
    """Whether it names something: a variable, `f(x)`, `f(2)`, a segment `AB`, "area", a point."""
    if isinstance(tree, Sequence):
        return all(isinstance(item, Symbol) for item in tree.items)
    if isinstance(tree, Call):
        is_length = tree.name == "abs" and _is_segment(tree.arguments[0])
        return is_length or tree.name not in KNOWN_FUNCTIONS
    return isinstance(tree, Symbol | Text) or _is_segment(tree)


def _is_segment(tree: Tree) -> bool:
    """Whether it is `AB`: what geometry calls by two or three points."""
    return isinstance(tree, Product) and all(
        isinstance(factor, Symbol) and factor.name.isupper() for factor in tree.factors
    )


def _is_known(tree: Tree) -> bool:
    return isinstance(tree, VALUES) and is_constant(tree)


def _contradict(matcher: Matcher, left: Tree, right: Tree, operator: str) -> bool:
    if not (isinstance(left, VALUES) and isinstance(right, VALUES)):
        return False
    if not (is_constant(left) and is_constant(right)):
        return False
    if operator == "=":
        return same_value(left, right, matcher.spec).same is False
    exact, about = real_value(left), real_value(right)
    if exact is None or about is None:
        return False
    is_whole = isinstance(left, Number) and isinstance(left.value, int)
    return exact != about and (is_whole or abs(exact - about) > _ABOUT * abs(exact))


def _value_for_equation(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    said = claim(matcher, gold)
    if matcher.spec.answer_type == "equation":
        return Finding(False, "structural", "an equation is expected")
    if said is None:
        return _only_right_side_of_gold(matcher, gold, answer)
    return matcher.match(said.values[-1], answer)


def _only_right_side_of_gold(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    r"""Leave `7/12` open for a gold `\frac{m}{n} = \frac{7}{12}`: the question may ask for it."""
    if isinstance(gold, Relation) and not _has_numbers(gold.operands[0]):
        right = gold.operands[-1]
        is_known = not isinstance(right, VALUES) or is_constant(right)
        if is_known and matcher.match(right, answer).same:
            return UNKNOWN
    return Finding(False, "structural", "an equation is expected")


def _equation_for_value(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    said = claim(matcher, answer)
    if said is None:
        return _only_right_side(matcher, gold, answer)
    if said.contradicts_itself:
        return Finding(False, "structural", "the answer contradicts itself")
    findings = [matcher.match(gold, value) for value in said.values]
    return next((found for found in findings if found.same), findings[-1])


def _only_right_side(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    """Leave `m + n = 204` open for 204: it may be what was asked for; `2x + y = 204` is not."""
    may_be = isinstance(answer, Relation) and not _has_numbers(answer.operands[0])
    if may_be and isinstance(answer, Relation) and matcher.match(gold, answer.operands[-1]).same:
        return UNKNOWN
    if _is_solved_by_all(matcher, answer, gold):
        return UNKNOWN
    return Finding(False, "structural", "the answer is an equation")


def _is_solved_by_all(matcher: Matcher, equation: Tree, gold: Tree) -> bool:
    """Whether every one of several values solves it: `|k| = 2` may be meant for 2 and -2."""
    whole = difference(equation)
    unknowns = {node for node in walk(whole) if isinstance(node, Symbol)} if whole else set()
    if whole is None or len(unknowns) != 1 or not isinstance(gold, Sequence) or gold.left == "(":
        return False
    name = unknowns.pop()
    values = [value for item in gold.items if (value := _known_value(item, name))]
    if not len(values) == len(gold.items) > 1:
        return False
    at = (substituted(whole, {name: value}) for value in values)
    return all(same_value(each, Number(0), matcher.spec).same for each in at)


def _known_value(item: Tree, name: Symbol) -> Value | None:
    """Return 2 for `2` and for `k = 2`."""
    if isinstance(item, Relation) and item.operators == ("=",) and item.operands[0] == name:
        item = item.operands[1]
    return item if isinstance(item, VALUES) and is_constant(item) else None


def _has_numbers(tree: Tree) -> bool:
    """Whether numbers are added or multiplied in it, as in `2x + y`."""
    if not isinstance(tree, VALUES):
        return False
    parts = (
        part for node in walk(tree) if isinstance(node, Sum | Product) for part in children(node)
    )
    return any(isinstance(part, Number) and part != MINUS_ONE for part in parts)


def _same_equations(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    wanted, given = claim(matcher, gold), claim(matcher, answer)
    if given and given.contradicts_itself:
        return Finding(False, "structural", "the answer contradicts itself")
    if _is_chain(gold) or _is_chain(answer):
        return _same_chain(matcher, gold, answer)
    if wanted and given and _is_same_name(wanted.name, given.name):
        return matcher.match(wanted.values[-1], given.values[-1])
    if wanted and given and (renamed := _with_arguments_of(wanted.name, given)):
        return matcher.match(wanted.values[-1], renamed)
    found = _same_up_to_a_factor(gold, answer)
    if found.same is not True and wanted and given:
        is_renamed = matcher.match(wanted.values[-1], given.values[-1]).same is not False
        return UNKNOWN if is_renamed else Finding(False, "structural")
    return found


def _is_same_name(first: Tree | None, second: Tree | None) -> bool:
    """Whether both name the same; `y(t)` may be called `y`."""
    if first == second:
        return True
    heads = [name.name if isinstance(name, Call | Symbol) else None for name in (first, second)]
    is_short = isinstance(first, Symbol) or isinstance(second, Symbol)
    return is_short and heads[0] is not None and heads[0] == heads[1]


def _is_chain(tree: Tree) -> bool:
    """Whether it makes three or more things equal, not all of them known: `a = b = c`."""
    if not isinstance(tree, Relation) or len(tree.operands) < 3:
        return False
    return sum(not _is_known(operand) for operand in tree.operands) > 1


def _same_chain(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    if not isinstance(gold, Relation) or not isinstance(answer, Relation):
        return UNKNOWN
    found = in_any_order(matcher, gold.operands, answer.operands, repeats=True)
    return found if found.same else UNKNOWN


def _with_arguments_of(name: Tree | None, given: Claim) -> Value | None:
    """Return the value of `f(t) = 2t` for the x of `f(x)`; None if that is not what it is."""
    if not isinstance(name, Call) or not isinstance(given.name, Call):
        return None
    value = given.values[-1]
    arguments = (*name.arguments, *given.name.arguments)
    is_head = all(isinstance(a, Symbol) and "=" not in a.name for a in arguments)
    if name.name != given.name.name or not is_head or not isinstance(value, VALUES):
        return None
    free = {node for node in walk(value) if isinstance(node, Symbol)}
    if not free.isdisjoint(set(name.arguments) - set(given.name.arguments)):
        return None  # f(t) = 2x says nothing of t
    if len(name.arguments) != len(given.name.arguments):
        return None
    return substituted(value, dict(zip(given.name.arguments, name.arguments, strict=True)))


def _same_up_to_a_factor(gold: Tree, answer: Tree) -> Finding:
    """Compare `left - right` of two equations: `4x + 2y = 8` is `2x + y = 4`."""
    wanted, given = difference(gold), difference(answer)
    if wanted is None or given is None:
        return UNKNOWN
    factor = factor_between(wanted, given)
    return UNKNOWN if factor is None else Finding(factor != 0, "symbolic")


def factor_between(wanted: Value, given: Value) -> Fraction | Form | None:
    """Return the constant factor between two values that are to be zero.

    0 where it is certain that there is none; None where that is not known.
    """
    try:
        forms = form_of(wanted), form_of(given)
    except normal.TooLargeError:
        return None
    factor = normal.proportional(*forms)
    if factor is not None:
        return factor
    is_complete = all(atom.complete for form in forms for atom in form.atoms.values())
    return Fraction(0) if is_complete else None


def difference(equation: Tree) -> Value | None:
    """Return left minus right of a relation between two values."""
    if not isinstance(equation, Relation) or len(equation.operands) != 2:
        return None
    left, right = equation.operands
    if not (isinstance(left, VALUES) and isinstance(right, VALUES)):
        return None
    return Sum((left, Product((MINUS_ONE, right))))


def _is_congruence(tree: Tree) -> bool:
    return isinstance(tree, Relation) and tree.operators == ("congruent", "mod")


def _same_congruence(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    r"""Compare `x \equiv 3 \pmod 7` with another one; a number of the class is not the class."""
    if not isinstance(gold, Relation) or not isinstance(answer, Relation):
        is_remainder = isinstance(gold, Relation) and isinstance(answer, VALUES)
        return UNKNOWN if is_remainder else _STRUCTURAL_NO
    if not (_is_congruence(gold) and _is_congruence(answer)):
        return UNKNOWN
    nameless = Symbol("") in (gold.operands[0], answer.operands[0])  # `3 (mod 7)`, of whatever
    same = [
        (place == 0 and nameless)
        or matcher.match(gold.operands[place], answer.operands[place]).same
        for place in (0, 2)
    ]
    if False in same:
        return _STRUCTURAL_NO
    (_, wanted, modulus), (_, given, _) = gold.operands, answer.operands
    numbers = [tree.value for tree in (wanted, given, modulus) if isinstance(tree, Number)]
    if len(numbers) < 3 or None in same or numbers[2] == 0:
        return matcher.match(wanted, given)
    return Finding((numbers[0] - numbers[1]) % numbers[2] == 0, "structural")
