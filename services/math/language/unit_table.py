"""What units are worth: the table behind `services.math.language.units`, and `Unit` itself.

What is covered: the units below in their usual spellings, with the prefixes listed for each (nobody
guesses: `peach` is not a peta-each). Factors are exact, so units without an exact factor between
them have different dimensions: degrees and radians, months and days, tons and kilograms, `MB` and
`kB`. Of two usual values the American one is meant: gallons, fluid ounces, `$`, `dollars`, `cents`.

What is not: `pm` (the time), `us` (the word), `M`, `F`, `H`, `t`, `d` (too rarely units).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

Dimension = tuple[tuple[str, int], ...]

GENERIC: Final = "unit"
"""The base of units that say nothing but "so many": units, square units, counters."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit; equal units are worth the same, whatever their names."""

    name: str = field(compare=False)
    """A short canonical name, for people: `km`, `m/s^2`, `%`, `$`."""
    factor: Fraction
    """How many base units of its dimension it is worth."""
    dimension: Dimension
    """Its bases, sorted, with their exponents; `%` has none."""
    offset: Fraction = Fraction(0)
    """What to add after the factor: 273.15 for °C."""
    sure: bool = field(default=True, compare=False)
    """Whether the spelling that was read hardly means anything else; False for `m` and `in`."""

    @property
    def is_generic(self) -> bool:
        """Whether it says nothing but "so many": `units`, `square units`, `个`."""
        return len(self.dimension) == 1 and self.dimension[0][0] == GENERIC


# name | definition (a name alone is a base) | spellings, `~` also with an s | prefixes in use
_ROWS: Final = """
m | m | m, meter~, metre~, 米, 미터, メートル | k d c m μ n
kg | kg | kg, 千克, 公斤
g | 1/1000 kg | g, gram~, gramme~, 克, 그램, グラム | k m μ
s | s | s, sec, secs, second~, 秒, 초 | m μ n p
A | A | A, amp~, ampere~, 安, 安培 | k m μ
K | K | K, kelvin~
mol | mol | mol, mole~ | m μ k
cd | cd | cd, candela~
bit | bit | bit~
° | ° | °, deg, degree~, 度, 도
rad | rad | rad, rads, radian~ | m
dB | dB | dB, decibel~
% | 1/100 | %, percent, per cent, pct, percents, 퍼센트
‰ | 1/1000 | ‰, per mille, permille
ppm | 1e-6 | ppm
unit | unit | unit~, 个, 個, 개, 人, 名, 명, 只, 隻, 条, 本, 张, 枚, 匹, 种, 次, 件, 位, 棵, 辆, 台
min | 60 s | min, mins, minute~, 分钟, 分間, 分鐘
h | 3600 s | h, hr, hrs, hour~, 小时, 小時, 時間, 시간
day | 86400 s | day~, 天, 日, 일
week | 604800 s | week~, wk, wks, 周, 週
month | month | month~, mo, mos, 个月, 個月, か月
yr | 12 month | year~, yr, yrs, 年, 년
decade | 120 month | decade~
century | 1200 month | century, centuries
in | 0.0254 m | in, inch, inches, 英寸
ft | 0.3048 m | ft, foot, feet, 英尺
yd | 0.9144 m | yd, yds, yard~
mi | 1609.344 m | mi, mile~, 英里
nmi | 1852 m | nmi, nautical mile~
AU | 149597870700 m | AU, astronomical unit~
ly | 9460730472580800 m | ly, light year~, lightyear~
Å | 1e-10 m | Å, angstrom~
ha | 10000 m^2 | ha, hectare~, 公顷
acre | 43560 ft^2 | acre~
L | 1/1000 m^3 | L, l, liter~, litre~, 升, 리터, リットル | m c d k h μ
cc | 1e-6 m^3 | cc, ccs
gal | 231 in^3 | gal, gals, gallon~
qt | 1/4 gal | qt, qts, quart~
pint | 1/8 gal | pint~
cup | 1/16 gal | cup~
fl oz | 1/128 gal | fl oz, fl. oz, fl.oz, fluid ounce~
tbsp | 1/256 gal | tbsp, tablespoon~
tsp | 1/768 gal | tsp, teaspoon~
lb | 0.45359237 kg | lb, lbs, pound~, 磅
oz | 1/16 lb | oz, ounce~
stone | 14 lb | stone
tonne | 1000 kg | tonne~, metric ton~, 吨, 噸, 톤
ton | ton | ton~
斤 | 1/2 kg | 斤
mph | 1 mi h^-1 | mph, mi/hr
km/h | 1 km h^-1 | kph, kmh, kmph, km/hr
knot | 1 nmi h^-1 | knot~, kn
rev | rev | rev, revs, revolution~
rpm | 1 rev min^-1 | rpm
Hz | 1 s^-1 | Hz, hz, hertz, 赫兹 | k M G T m
N | 1 kg m s^-2 | N, newton~, 牛, 牛顿 | k M m μ
J | 1 N m | J, joule~, 焦, 焦耳 | k M G m μ
W | 1 J s^-1 | W, watt~, 瓦, 瓦特 | k M G m
Pa | 1 N m^-2 | Pa, pascal~, 帕, 帕斯卡 | k M G h
V | 1 W A^-1 | V, volt~, 伏, 伏特 | k M m μ
C | 1 A s | C, coulomb~, 库仑 | m μ n
Ω | 1 V A^-1 | Ω, ohm~, 欧姆 | k M m
farad | 1 C V^-1 | farad~
mF | 1e-3 farad | mF, millifarad~
μF | 1e-6 farad | μF, uF, microfarad~
nF | 1e-9 farad | nF, nanofarad~
pF | 1e-12 farad | pF, picofarad~
Wb | 1 V s | Wb, weber~ | m
T | 1 Wb m^-2 | T, tesla~ | m μ n
henry | 1 Wb A^-1 | henry, henries, henrys
mH | 1e-3 henry | mH, millihenry~, millihenries
N m | 1 N m | Nm, newton meter~, newton metre~
Wh | 3600 J | Wh, watt hour~ | k M G
kW h | 3600000 J | kwh
cal | 4.184 J | cal, calorie~ | k
kcal | 4184 J | Cal, food calorie~
eV | 1.602176634e-19 J | eV, electronvolt~, electron volt~ | k M G
bar | 100000 Pa | bar, bars | m
atm | 101325 Pa | atm, atmosphere~
Torr | 101325/760 Pa | Torr, torr
lbf | 4.4482216152605 N | lbf
psi | 1 lbf in^-2 | psi, pounds per square inch
ft lb | 1 ft lbf | ft lb, ft lbs, foot pound~, lb ft
hp | 550 ft lbf s^-1 | hp, horsepower
°C | 1 K | °C, degree C, degrees C, ° C, degree Celsius, degrees Celsius, deg C, deg Celsius, Celsius, centigrade, 摄氏度
°F | 5/9 K | °F, degree F, degrees F, ° F, degree Fahrenheit, degrees Fahrenheit, deg F, deg Fahrenheit, Fahrenheit
byte | 8 bit | byte~, 字节
kB | kB | kB, KB, kilobyte~
MB | MB | MB, megabyte~
GB | GB | GB, gigabyte~
TB | TB | TB, terabyte~
KiB | 8192 bit | KiB, kibibyte~
MiB | 8388608 bit | MiB, mebibyte~
GiB | 8589934592 bit | GiB, gibibyte~
Mbps | 1e6 bit s^-1 | Mbps
Gbps | 1e9 bit s^-1 | Gbps
$ | USD | $, dollar~, USD, US$, US dollar~, 美元, 달러, ドル
¢ | 1/100 USD | ¢, cent~
€ | EUR | €, euro~, EUR, 欧元, 유로
£ | GBP | £, GBP, pounds sterling
¥ | ¥ | ¥
元 | CNY | 元, yuan, RMB, CNY, 人民币
円 | JPY | 円, yen, JPY, 日元
₩ | KRW | ₩, 원, won, KRW
₹ | INR | ₹, rupee~, INR
peso | peso | peso~
"""
_PREFIXES: Final = {
    "p": ("pico", "1e-12"),
    "n": ("nano", "1e-9"),
    "μ": ("micro", "1e-6"),
    "m": ("milli", "1e-3"),
    "c": ("centi", "1e-2"),
    "d": ("deci", "1e-1"),
    "h": ("hecto", "1e2"),
    "k": ("kilo", "1e3"),
    "M": ("mega", "1e6"),
    "G": ("giga", "1e9"),
    "T": ("tera", "1e12"),
}
_OTHER_SPELLINGS: Final = {
    "km": "千米 公里 킬로미터",
    "dm": "分米",
    "cm": "厘米 釐米 公分 센티미터",
    "mm": "毫米 밀리미터",
    "μm": "um 微米",
    "nm": "纳米",
    "mg": "毫克",
    "μg": "ug mcg",
    "mL": "毫升 ml",
    "μL": "uL",
    "dL": "dl",
    "cL": "cl",
    "kW": "千瓦",
    "h": "时 時",
    "kHz": "khz",
    "kg": "킬로그램",
}
_OFFSETS: Final = {"°C": Fraction("273.15"), "°F": Fraction("459.67") * 5 / 9}
_ANY_CASE: Final = frozenset(("km", "kg", "cm", "ft", "lb", "hr", "oz", "yd"))
_OFTEN_ELSE: Final = """
in min sec second deg mi mo mole bar cup rev stone foot yard won bit day ha ly hp kn nm Nm cd cc cal
牛 安 伏 焦 瓦 帕 mg ms mA mN mT mH mC mF mV mW mJ ml cl dl kN kA kV
"""
_UNSURE: Final = frozenset(_OFTEN_ELSE.split())


def named(text: str) -> Unit | None:
    """Return the unit that the table has under this spelling."""
    return _UNITS.get(text) or _WORDS.get(text.lower())


def _table() -> dict[str, Unit]:
    """Read the rows in their order: a definition uses the units above it."""
    table: dict[str, Unit] = {}
    for row in _ROWS.strip().splitlines():
        name, definition, spellings, *prefixes = (cell.strip() for cell in row.split("|"))
        measure = _defined(name, definition, table)
        table |= dict.fromkeys(_written(spellings), measure)
        for prefix in "".join(prefixes).split():
            word, size = _PREFIXES[prefix]
            larger = Unit(prefix + name, measure.factor * Fraction(size), measure.dimension)
            words = (each for each in _written(spellings) if each.isascii() and len(each) > 3)
            table |= dict.fromkeys((prefix + name, *(word + each for each in words)), larger)
    for name, others in _OTHER_SPELLINGS.items():
        table |= dict.fromkeys(others.split(), table[name])
    return {spelling: _marked(spelling, measure) for spelling, measure in table.items()}


def _written(spellings: str) -> list[str]:
    """Return the spellings of a row, with their plurals."""
    listed = [each.strip() for each in spellings.split(",")]
    return [word for each in listed for word in _with_plural(each)]


def _with_plural(spelling: str) -> tuple[str, ...]:
    word = spelling.removesuffix("~")
    return (word,) if word == spelling else (word, word + "s")


def _defined(name: str, definition: str, table: dict[str, Unit]) -> Unit:
    """Read `1 kg m s^-2`, a plain number, or the name of a base."""
    number, *parts = definition.split()
    if not number[0].isdigit():
        return Unit(name, Fraction(1), ((number, 1),))
    factor = Fraction(number)
    dimension: dict[str, int] = {}
    for part in parts:
        base, _, exponent = part.partition("^")
        power = int(exponent or 1)
        factor *= table[base].factor ** power
        for kind, count in table[base].dimension:
            dimension[kind] = dimension.get(kind, 0) + count * power
    bases = tuple(sorted((kind, count) for kind, count in dimension.items() if count))
    return Unit(name, factor, bases, _OFFSETS.get(name, Fraction(0)))


def _marked(spelling: str, measure: Unit) -> Unit:
    single = len(spelling) == 1 and spelling.isascii() and spelling.isalpha()
    return replace(measure, sure=False) if single or spelling in _UNSURE else measure


def _is_word(spelling: str) -> bool:
    """Whether its case means nothing: `Hours`, `MIN`, `KM`, but not `mbar` and `Mbar`."""
    word = spelling.isascii() and spelling.islower() and len(spelling) > 2
    return spelling in _ANY_CASE or (word and spelling not in ("mbar", "mcal", "mmol", "mrad"))


_UNITS: Final = _table()
_WORDS: Final = {
    spelling.lower(): measure for spelling, measure in _UNITS.items() if _is_word(spelling)
}
