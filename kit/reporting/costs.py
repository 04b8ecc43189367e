"""What a query costs, in seconds as measured and in money as declared, against how good a system is."""

import math

import numpy as np
import pandas as pd

from kit.errors import ParamsError
from kit.evaluation.evaluate import Evaluation, by_scope, figures
from kit.params import Params
from kit.reporting import plots, show

SECONDS = "seconds a query"
COLUMNS = ["cost", "n", "mean", "low", "high", "front"]


def seconds_a_query(cost: dict, queries: int, sample: dict | None) -> float | None:
    """The seconds of search over the queries searched, with those of the runs that a run is made of;
    without preprocessing and index. None where a run states none. cost, queries, sample: as a manifest or
    card has them."""
    parts = [cost.get("search_seconds"), cost.get("inputs_search_seconds", 0.0)]
    searched = sample["size"] if sample else queries
    return None if None in parts or not searched else math.fsum(parts) / searched


def price_of(system: str, params: Params) -> dict | None:
    """What a query of the system costs, as the parameters declare it."""
    if not params.system_costs or system not in params.system_costs:
        return None
    return {"per_query": params.system_costs[system], "currency": params.cost_currency}


def require_priced(systems: list[str], params: Params) -> None:
    """Raises ParamsError for costs without a currency or a currency without costs, and for a cost of what
    is no system. systems: their names on scorecards."""
    if bool(params.system_costs) != (params.cost_currency is not None):
        raise ParamsError("costs are declared with their currency", "system_costs, cost_currency",
                          "Give both, such as '{bm25: 0.0001}' and EUR")
    strange = next((name for name in params.system_costs or () if name not in systems), None)
    if strange is not None:
        raise ParamsError(f"a cost is declared of '{strange}', which is no system of the experiment",
                          "system_costs", f"Systems are {', '.join(systems)}, by their names on scorecards")


def front(frame: pd.DataFrame) -> pd.Series:
    """Which rows no other beats: none is as good or better in both, and better in one (Pareto). frame: cost,
    the lower the better, and mean, the higher."""
    cost, mean = (frame[name].to_numpy(float)[:, None] for name in ("cost", "mean"))
    as_good = (cost.T <= cost) & (mean.T >= mean)
    beaten = as_good & ((cost.T < cost) | (mean.T > mean))
    return pd.Series(~beaten.any(axis=1), frame.index)


def against(evaluations: dict[str, Evaluation], costs: dict[str, float | None], measure: str,
            seed: int) -> pd.DataFrame:
    """A row a system, by its name: columns as COLUMNS, cost NaN where none is known. front: among those whose
    cost is known."""
    rows = {}
    for name, evaluation in evaluations.items():
        found = figures(evaluation.only(measure), seed).iloc[0]
        rows[name] = {"cost": costs.get(name), **{key: found[key] for key in ("n", "mean", "low", "high")}}
    frame = pd.DataFrame.from_dict(rows, orient="index").astype({"cost": float, "n": int}).rename_axis("system")
    known = frame[frame["cost"].notna()]
    return frame.assign(front=front(known).reindex(frame.index, fill_value=False))[COLUMNS]


def finding(frame: pd.DataFrame, measure: str, dear: str) -> str:
    """The title of the picture. frame: as `against` gives it, of systems whose cost is known; dear: what more
    cost is, slower or dearer."""
    beaten = frame[~frame["front"]]
    if len(frame) == 1:
        return f"{frame.index[0]}: {measure} {frame['mean'].iloc[0]:.3f}, and no other to hold it against"
    if len(beaten):
        worst = beaten.iloc[0]
        by = frame[(frame["cost"] <= worst["cost"]) & (frame["mean"] >= worst["mean"]) & frame["front"]]
        more = f", and {len(beaten) - 1} more" if len(beaten) > 1 else ""
        return (f"{beaten.index[0]}{more} not worth it: {by.index[0]} has {measure} {by['mean'].iloc[0]:.3f} "
                f"against {worst['mean']:.3f} and is not {dear}")
    order = frame.sort_values("cost", kind="stable")
    if order["mean"].nunique() == 1:
        return f"All have the same {measure} at the same cost"
    low, high = order.iloc[0], order.iloc[-1]
    return (f"{order.index[-1]} has {high['mean'] - low['mean']:.3f} more {measure} than {order.index[0]}, and "
            f"{_more(low['cost'], high['cost'], dear)}")


def _more(low: float, high: float, dear: str) -> str:
    """How much more the dearest is than the cheapest, as a ratio where there is one."""
    takes, as_much = {"slower": ("takes", "as long"), "dearer": ("costs", "as much")}[dear]
    return f"{takes} {high / low:.3g} times {as_much}" if low > 0 else f"is {dear}"


def show_prices(cards: list, evaluations: dict[str, Evaluation], measure: str, params: Params) -> None:
    """A picture and table a scope of a measure against what a query costs as declared, or that nothing is."""
    prices = {card.system["name"]: card.price["per_query"] for card in cards if card.price}
    if not prices:
        show.say("No cost is declared. With system_costs: {name: cost a query} and cost_currency: EUR, say, "
                 "quality stands against money here.")
        return
    _show(evaluations, prices, measure, params, f"{params.cost_currency} a query, as declared", "dearer", "{:g}")


def show_times(cards: list, evaluations: dict[str, Evaluation], measure: str, params: Params) -> None:
    """A picture and table a scope of a measure against the seconds of a query, as they were measured."""
    times = {card.system["name"]: seconds_a_query(card.cost, card.queries, card.sample) for card in cards}
    if all(value is None for value in times.values()):
        show.say("No run says how long it took: a run file states no times.")
        return
    _show(evaluations, times, measure, params, f"{SECONDS}, as measured", "slower", "{:.4f}")


def _show(evaluations: dict, costs: dict, measure: str, params: Params, label: str, dear: str, form: str) -> None:
    for scope, mine in by_scope(evaluations).items():
        frame = against(mine, costs, measure, params.seed)
        known, over = frame[frame["cost"].notna()], "" if scope == "all" else f", {scope}"
        unit = label.partition(",")[0]
        show.picture(plots.trade(known, finding(known, measure, dear) + over, label, measure,
                                 bool((known["cost"] > 0).all())),
                     f"{measure} of each system against {label}{over}; a line joins those that no other beats in both")
        table = frame.rename(columns={"cost": unit, "front": "no other beats it"})
        told = {True: "yes", False: "no"}
        table["no other beats it"] = [told[bool(f)] if not np.isnan(c) else None
                                      for f, c in zip(frame["front"], frame["cost"])]
        show.display(show.table(table, {unit: form, **dict.fromkeys(("mean", "low", "high"), "{:.3f}")},
                                f"{measure} against {label}{over}"))
