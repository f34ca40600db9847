from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from services.math.language.units import Unit, compound, converted, differ, ratio, same_unit, unit

_ALIKE = r"""
km|KM|kilometers|Kilometre|公里|千米|km.
cm^2|cm^{2}|cm²|cm2|square centimeters|sq. cm|sq cm|cm squared|平方厘米
square feet|sq. ft.|sq.ft.|sq ft|ft^2|feet squared|square foot
miles per hour|mph|mi/h|mi/hr|miles/hour|MPH
m/s^2|m/s^{2}|m/s²|m s^{-2}|m s⁻²|m/s/s|meters per second per second
m/s^2|meters per second squared|metres/second^2|m\cdot s^{-2}
kg m/s|kg·m/s|kg \cdot m/s|kg*m/s|kg-m/s|N s|newton-seconds
km/h|kph|kilometers per hour|公里/小时
ft|foot|feet|ft.|Feet
in|in.|inch|inches|英寸
s|sec|secs|second|seconds|秒
min|mins|minutes|分钟
h|hr|hrs|Hours|小时
L|l|liters|litre|dm^3
mL|ml|milliliters|cc|cm^3|cubic centimeters|立方厘米
°C|degrees Celsius|^\circ C|^{\circ}C|\degree C|℃|deg C|° C
%|\%|percent|per cent|pct|Percent
°|degrees|degree|deg|^\circ|^{\circ}|度
$|\$|dollars|USD|US dollars|美元
€|euros|EUR
¢|cents|cent
元|yuan|人民币
円|yen|JPY
units|unit|个|개|人
square units|sq. units|units^2
1/s|s^{-1}|per second|Hz
N m|N\cdot m|N-m|Nm|newton meters|J
kWh|kW h|kilowatt-hours|kilowatt hours|kwh
J/(kg K)|J/(kg\cdot K)|J kg^{-1} K^{-1}
\mu m|μm|µm|um|micrometers
Ω|\Omega|ohms|Ω
lb|lbs|pounds|lbs.
fl oz|fl. oz.|fluid ounces|fl.oz
psi|pounds per square inch
light-years|light years|ly
km/h/s|km/(h s)|kilometers per hour per second
"""
ALIKE = [row.split("|") for row in _ALIKE.strip().splitlines()]


def _pairs(text: str) -> list[list[str]]:
    return [pair.split(" ~ ") for pair in text.split("|")]


@pytest.mark.parametrize("spellings", ALIKE, ids=lambda spellings: spellings[0])
def test_spellings_of_one_unit_are_worth_the_same(spellings: list[str]) -> None:
    units = [unit(spelling) for spelling in spellings]
    assert None not in units, dict(zip(spellings, units, strict=True))
    assert len(set(units)) == 1, dict(zip(spellings, units, strict=True))


_NO_UNITS = r""" |.|/|^|*|-|per|square|1|2|1/|5 km|km 5|m/|/m/|(m)|m^0|m^x|m^10|m^2^2|square m^2
|m squared squared|$^2|%^2|°^2|N2|s2|peach|pm|am|us|M|F|H|t|d|x|b|ML|Mm|mhz|MW h h|dam|secant
|sec x|min x|max|minimum|x m|I am|no|none|May|A dog|ins|or|and|not|apples|students|times|dozen
|inch per|per per second|kmm|J/kg K|ft in|m m|h min|cm in|m in|units units|m units|m/m|km/m
|{m}{s}|m{s}|m + s|m, s|m=s|m or s|5|\frac{m}{s}|cm$|apples per hour|in per s^{-1}"""


@pytest.mark.parametrize("text", _NO_UNITS.replace("\n", "").split("|"))
def test_what_is_no_unit(text: str) -> None:
    assert unit(text) is None


@pytest.mark.parametrize(
    "text", ["m", "s", "g", "h", "L", "N", "J", "W", "V", "A", "K", "C", "in", "min"]
)
def test_a_spelling_that_may_be_something_else_is_unsure(text: str) -> None:
    found = unit(text)
    assert found is not None
    assert not found.sure


@pytest.mark.parametrize("text", ["sec", "second", "mg", "m/s", "N m", "m^2", "1/s", "m2", "deg"])
def test_what_is_made_of_unsure_units_is_unsure(text: str) -> None:
    found = unit(text)
    assert found is not None
    assert not found.sure


@pytest.mark.parametrize(
    "text", ["km", "meters", "inches", "%", "$", "km/s", "seconds", "kg m/s", "°"]
)
def test_a_spelling_that_is_hardly_anything_else_is_sure(text: str) -> None:
    found = unit(text)
    assert found is not None
    assert found.sure


@pytest.mark.parametrize(
    ("a", "b", "worth"),
    [
        ("km", "m", 1000),
        ("m", "km", Fraction(1, 1000)),
        ("ft", "in", 12),
        ("yd", "ft", 3),
        ("mi", "ft", 5280),
        ("mi", "km", Fraction("1.609344")),
        ("acres", "square feet", 43560),
        ("m^2", "cm^2", 10000),
        ("L", "cm^3", 1000),
        ("gal", "qt", 4),
        ("gallons", "fluid ounces", 128),
        ("cups", "tablespoons", 16),
        ("lb", "oz", 16),
        ("lb", "kg", Fraction("0.45359237")),
        ("tonnes", "kg", 1000),
        ("hours", "seconds", 3600),
        ("weeks", "days", 7),
        ("years", "months", 12),
        ("dollars", "cents", 100),
        ("%", "‰", 10),
        ("m/s", "km/h", Fraction(18, 5)),
        ("kWh", "J", 3600000),
        ("atm", "Pa", 101325),
        ("N", "kg m/s^2", 1),
        ("V A", "W", 1),
        ("kcal", "kJ", Fraction("4.184")),
        ("eV", "J", Fraction("1.602176634e-19")),
        ("C/V", "farads", 1),
        ("μF", "farad", Fraction(1, 10**6)),
        ("bytes", "bits", 8),
        ("rpm", "rev/min", 1),
        ("°C", "°C", 1),
    ],
)
def test_ratios_are_exact(a: str, b: str, worth: Fraction | int) -> None:
    first, second = unit(a), unit(b)
    assert first is not None
    assert second is not None
    assert ratio(first, second) == worth


@pytest.mark.parametrize(
    ("a", "b"),
    _pairs(
        "m ~ s|$ ~ €|¥ ~ 元|° ~ rad|m ~ m^2|year ~ days|ton ~ kg|MB ~ kB|°C ~ °F|°C ~ K|"
        "units ~ square units|units ~ cm|% ~ rad"
    ),
)
def test_there_is_no_ratio_without_an_exact_factor(a: str, b: str) -> None:
    first, second = unit(a), unit(b)
    assert first is not None
    assert second is not None
    assert ratio(first, second) is None
    assert not same_unit(first, second)


@pytest.mark.parametrize(
    ("value", "a", "b", "expected"),
    [
        (100, "°C", "°F", 212),
        (-40, "°F", "°C", -40),
        (0, "°C", "K", Fraction("273.15")),
        (32, "degrees Fahrenheit", "K", Fraction("273.15")),
        (5, "km", "m", 5000),
        (5, "km", "s", None),
    ],
)
def test_values_are_converted_also_from_other_zeros(
    value: int, a: str, b: str, expected: Fraction | int | None
) -> None:
    first, second = unit(a), unit(b)
    assert first is not None
    assert second is not None
    assert converted(Fraction(value), first, second) == expected


@pytest.mark.parametrize(
    ("a", "b"),
    _pairs(
        "km ~ s|$ ~ €|m ~ m^2|mph ~ miles|% ~ m|% ~ °|kg ~ L|meters ~ minutes|° ~ m|$ ~ hours|"
        "$/h ~ $|MB ~ m|cents ~ m"
    ),
)
def test_units_that_surely_differ(a: str, b: str) -> None:
    first, second = unit(a), unit(b)
    assert first is not None
    assert second is not None
    assert differ(first, second)
    assert differ(second, first)


@pytest.mark.parametrize(
    ("a", "b"),
    _pairs(
        "km ~ m|° ~ rad|rad/s ~ 1/s|° ~ °C|C ~ °C|lb ~ £|pounds ~ N|months ~ days|tons ~ kg|"
        "GB ~ MB|¥ ~ 元|¥ ~ yen|oz ~ mL|units ~ cm|square units ~ cm^2|units ~ square units|"
        "m ~ minutes|¢ ~ €"
    ),
)
def test_units_that_may_be_the_same(a: str, b: str) -> None:
    first, second = unit(a), unit(b)
    assert first is not None
    assert second is not None
    assert not differ(first, second)
    assert not differ(second, first)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kilometers", "km"),
        ("square feet", "ft^2"),
        ("meters per second squared", "m/s^2"),
        ("usd", None),
        ("dollars", "$"),
        ("percent", "%"),
        ("kg \\cdot m/s", "kg m/s"),
        ("J/(kg K)", "J/(kg K)"),
    ],
)
def test_names_are_short_and_canonical(text: str, name: str | None) -> None:
    found = unit(text)
    assert (found and found.name) == name


@pytest.mark.parametrize("spelling", [spelling for spellings in ALIKE for spelling in spellings])
def test_a_name_reads_as_its_unit(spelling: str) -> None:
    found = unit(spelling)
    assert found is not None
    assert unit(found.name) == found


@pytest.mark.parametrize(
    ("text", "generic"),
    [("units", True), ("square units", True), ("개", True), ("km", False), ("%", False)],
)
def test_generic_units_are_known_as_such(text: str, generic: bool) -> None:
    found = unit(text)
    assert found is not None
    assert found.is_generic is generic


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ("2 hours 30 minutes", 150, "min"),
        ("2 hours and 30 minutes", 150, "min"),
        ("1 hour, 20 min", 80, "min"),
        ("2h 30m", 150, "min"),
        ("2h30m", 150, "min"),
        ("1 h 2 min 3.5 s", Fraction("3723.5"), "s"),
        ("2小时30分", 150, "min"),
        ("2小时30分钟", 150, "min"),
        ("5 ft 3 in", 63, "in"),
        ("5 ft. 3 in.", 63, "in"),
        ("1 lb, 3 oz", 19, "oz"),
        ("3 dollars and 25 cents", 325, "¢"),
        ("1 year 6 months", 18, "month"),
        ("5 m 20 cm", 520, "cm"),
    ],
)
def test_sums_of_units_are_read(text: str, value: Fraction | int, name: str) -> None:
    found = compound(text)
    assert found is not None
    assert (found[0], found[1].name) == (value, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 hours",
        "2 hours and",
        "20 min 1 hour",
        "5 ft 3 ft",
        "2 km 3 s",
        "1 year 3 days",
        "5 m 30 s",
        "1.5 hours 20 min",
        "2 units 3 units",
        "-2 h 30 min",
        "2 h - 30 min",
        "2 and 3 ft",
        "2 apples 3 pears",
        "2 h or 30 min",
        "20 °C 30 °F",
        "3:15",
        "12",
        "1 2",
    ],
)
def test_what_is_no_sum_of_units(text: str) -> None:
    assert compound(text) is None


@given(st.text(max_size=90))
def test_any_text_can_be_asked(text: str) -> None:
    found = unit(text)
    assert found is None or isinstance(found, Unit)
    compound(text)


_PIECES = [
    "m",
    "s",
    "kg",
    "^2",
    "^{-1}",
    "/",
    " per ",
    "(",
    ")",
    "*",
    " ",
    "square ",
    "in",
    "°",
    "C",
    ".",
]


@given(
    st.lists(st.sampled_from([*_PIECES, "1", "2", "h", "min", "units", "$"]), max_size=9).map(
        "".join
    )
)
def test_what_is_read_has_a_name_that_reads_the_same(text: str) -> None:
    found = unit(text)
    assert found is None or unit(found.name) == found
    compound(text)


@pytest.mark.parametrize("text", ["m" * 100, "m " * 50, "km" + " " * 100])
def test_long_text_is_no_unit(text: str) -> None:
    assert unit(text) is None
    assert compound("5 " + text) is None
