"""What rows say of themselves: the statutes and the grades that make slices."""

from functools import partial

from kit.relevance.checks.check import FACT, Check, Found, rows_found

CHECKS: list[Check] = []


def _stating(column: str, wanted: set[str], prepared) -> Found:
    frame = prepared.collection.frame("queries", ["query_id", column])
    held = [wanted <= set(stated or ()) for stated in frame[column]]
    return rows_found(frame.loc[held, ["query_id"]], len(frame))


for _column, _values, _sign in (("statute", ("102", "103"), "§"), ("grade", ("X", "Y"), "")):
    for _name, _wanted in ((f"queries {_sign}{_values[0]}", {_values[0]}),
                           (f"queries {_sign}{_values[1]}", {_values[1]}),
                           (f"queries of both {_column}s", set(_values))):
        CHECKS.append(Check("slices", _name, FACT, f"Rows that state the {_column} "
                            f"{' and '.join(sorted(_wanted))}; one of both counts in both slices.",
                            ("queries.query_id", f"queries.{_column}"),
                            partial(_stating, _column, _wanted)))
