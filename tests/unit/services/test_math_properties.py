"""What must hold for any expression, however it is written.

`math_expressions` makes the expressions and knows their values, `math_writer` writes them.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import assume, given, settings, strategies as st

from rewarden.contracts import Outcome
from services.math.judge import Judge, Judgement
from tests.unit.services.math_expressions import (
    POINTS,
    Add,
    Div,
    Mul,
    Neg,
    Node,
    Num,
    Pow,
    Root,
    Var,
    changed,
    differ,
    expression,
    rewritten,
    value,
)
from tests.unit.services.math_writer import Writer

RANDOMS = st.randoms(use_true_random=False)
FEW = settings(max_examples=100, deadline=None)
MANY = settings(max_examples=300, deadline=None)

POINT = POINTS[0]


def judge(gold: object, answer: str) -> Judgement:
    return judge_completion(gold, rf"So it is \boxed{{{answer}}}.")


def judge_completion(gold: object, completion: str) -> Judgement:
    return Judge().judge({"answer": gold}, completion)


def expect(outcome: Outcome, gold: str, answer: str) -> None:
    found = judge(gold, answer)
    assert found.outcome is outcome, f"{answer!r} for {gold!r}: {found.reason}"


# What the other tests take for granted.


def test_values_of_expressions_are_what_arithmetic_says() -> None:
    x, two = Var("x"), Num(Fraction(2))
    whole = Add((Mul((two, x)), Neg(Div(two, Pow(x, 2))), Root(Num(Fraction(9)))))
    x_value = value(x, POINT)
    assert abs(value(whole, POINT) - (2 * x_value - 2 / x_value**2 + 3)) < 1e-20


def test_equal_trees_do_not_differ_and_other_numbers_do() -> None:
    x, two, three = Var("x"), Num(Fraction(2)), Num(Fraction(3))
    assert not differ(Add((x, two)), Add((two, x)))
    assert not differ(Pow(Root(two), 2), two)
    assert differ(Pow(x, 2), Pow(x, 3))
    assert differ(Mul((two, x)), Mul((three, x)))


@FEW
@given(RANDOMS)
def test_a_change_is_a_change_of_the_tree(random: Random) -> None:
    node = expression(random)
    assert changed(node, random) != node


@FEW
@given(RANDOMS)
def test_algebra_keeps_the_value(random: Random) -> None:
    node = expression(random)
    assert not differ(node, rewritten(node, random))


# Expressions.


@MANY
@given(RANDOMS)
def test_an_expression_equals_itself_however_it_is_written(random: Random) -> None:
    node, writer = expression(random), Writer(random)
    expect(Outcome.CORRECT, writer.write(node), writer.write(node))


@FEW
@given(RANDOMS)
def test_a_number_equals_itself_however_it_is_written(random: Random) -> None:
    node, writer = expression(random, depth=2, variables=()), Writer(random)
    expect(Outcome.CORRECT, writer.write(node), writer.write(node))


@FEW
@given(RANDOMS)
def test_dollars_and_tags_around_an_answer_change_nothing(random: Random) -> None:
    node, writer = expression(random), Writer(random)
    answer = writer.write(node)
    frame = random.choice(
        [
            "So $\\boxed{%s}$.",
            "So\n\\[\\boxed{%s}\\]",
            "So \\boxed{$%s$}.",
            "<think>I see.</think>\n<answer>%s</answer>",
            "<answer>$%s$</answer>",
            "**Final Answer:** $%s$",
            "The final answer is $%s$.",
            "#### $%s$",
        ]
    )
    found = judge_completion(writer.write(node), frame.replace("%s", answer))
    assert found.outcome is Outcome.CORRECT, f"{frame!r} with {answer!r}: {found.reason}"


@MANY
@given(RANDOMS)
def test_an_expression_equals_itself_after_some_algebra(random: Random) -> None:
    node, writer = expression(random), Writer(random)
    expect(Outcome.CORRECT, writer.write(node), writer.write(rewritten(node, random)))


@MANY
@given(RANDOMS)
def test_an_expression_differs_after_a_change_of_one_number(random: Random) -> None:
    node, writer = expression(random), Writer(random)
    other = changed(node, random)
    assume(differ(node, other))
    expect(Outcome.INCORRECT, writer.write(node), writer.write(other))


@FEW
@given(RANDOMS)
def test_an_expression_differs_after_a_change_and_some_algebra(random: Random) -> None:
    node, writer = expression(random), Writer(random)
    other = changed(node, random)
    assume(differ(node, other))
    expect(Outcome.INCORRECT, writer.write(node), writer.write(rewritten(other, random)))


@MANY
@given(RANDOMS)
def test_two_expressions_are_the_same_only_if_their_values_are(random: Random) -> None:
    one, other, writer = expression(random, 1), expression(random, 1), Writer(random)
    assume(differ(one, other))
    expect(Outcome.INCORRECT, writer.write(one), writer.write(other))


# Tuples, lists, sets, intervals.


@FEW
@given(RANDOMS)
def test_a_tuple_equals_itself(random: Random) -> None:
    nodes, writer = items(random), Writer(random)
    gold, answer = (writer.write_all(nodes, "(", ")") for _ in range(2))
    expect(Outcome.CORRECT, gold, answer)


@FEW
@given(RANDOMS)
def test_a_tuple_differs_in_another_order(random: Random) -> None:
    nodes, writer = items(random), Writer(random)
    turned = nodes[1:] + nodes[:1]
    assume(len(nodes) > 2)  # a pair may be an interval
    expect(Outcome.INCORRECT, writer.write_all(nodes, "(", ")"), writer.write_all(turned, "(", ")"))


@FEW
@given(RANDOMS, st.sampled_from(["()", "{}", ""]))
def test_a_sequence_differs_after_a_change_of_one_item(random: Random, brackets: str) -> None:
    nodes, writer = items(random), Writer(random)
    place = random.randrange(len(nodes))
    other = changed(nodes[place], random)
    assume(all(differ(other, node) for node in nodes))
    others = [*nodes[:place], other, *nodes[place + 1 :]]
    left, right = brackets[:1], brackets[1:]
    expect(
        Outcome.INCORRECT,
        writer.write_all(nodes, left, right),
        writer.write_all(others, left, right),
    )


@FEW
@given(RANDOMS)
def test_a_set_has_no_order(random: Random) -> None:
    nodes, writer = items(random), Writer(random)
    shuffled = random.sample(nodes, len(nodes))
    expect(Outcome.CORRECT, writer.write_all(nodes, "{", "}"), writer.write_all(shuffled, "{", "}"))


@FEW
@given(RANDOMS)
def test_a_set_differs_without_one_element(random: Random) -> None:
    nodes, writer = items(random), Writer(random)
    rest = random.sample(nodes, len(nodes) - 1)
    expect(Outcome.INCORRECT, writer.write_all(nodes, "{", "}"), writer.write_all(rest, "{", "}"))


@FEW
@given(RANDOMS, st.sampled_from("(["), st.sampled_from(")]"))
def test_an_interval_equals_itself(random: Random, left: str, right: str) -> None:
    ends, writer = bounds(random), Writer(random)
    gold, answer = (writer.write_all(ends, left, right) for _ in range(2))
    expect(Outcome.CORRECT, gold, answer)


@FEW
@given(RANDOMS, st.sampled_from("(["), st.sampled_from(")]"))
def test_an_interval_differs_with_another_bound(random: Random, left: str, right: str) -> None:
    ends, writer = bounds(random), Writer(random)
    end = changed(ends[1], random)
    assume(differ(ends[1], end))
    expect(
        Outcome.INCORRECT,
        writer.write_all(ends, left, right),
        writer.write_all([ends[0], end], left, right),
    )


@FEW
@given(RANDOMS, st.permutations(["()", "(]", "[)", "[]"]))
def test_an_interval_differs_with_other_brackets(random: Random, kinds: list[str]) -> None:
    ends, writer = bounds(random), Writer(random)
    gold, answer = (writer.write_all(ends, kind[0], kind[1]) for kind in kinds[:2])
    expect(Outcome.INCORRECT, gold, answer)


def items(random: Random) -> list[Node]:
    """Make two to four expressions, all different."""
    nodes: list[Node] = []
    for _ in range(random.randint(2, 4)):
        node = expression(random, 1)
        if all(differ(node, other) for other in nodes):
            nodes.append(node)
    assume(len(nodes) > 1)
    return nodes


def bounds(random: Random) -> list[Node]:
    """Make the two bounds of an interval, in order."""
    low, high = (expression(random, 1, variables=()) for _ in range(2))
    assume(differ(low, high))
    return sorted([low, high], key=lambda node: value(node, POINT))
