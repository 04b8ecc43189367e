"""From saved runs to figures and scorecards: what `40_score` shows and the pipeline prints."""

import json
from pathlib import Path

import pandas as pd
from IPython.display import display

from kit.errors import MeasureError, ParamsError
from kit.evaluation.evaluate import (
    FAR_SCOPE,
    Evaluation,
    all_figures,
    by_scope,
    evaluate,
    recall_by_depth,
    scope_pairs,
    scopes_shown,
)
from kit.evaluation.measures import has_values, parse_measure, sentence
from kit.files import outputs_folder, write_json
from kit.params import Params
from kit.relevance.slices import SCOPES
from kit.reporting import calibration, plots, rules, show
from kit.reporting.comparison import over
from kit.reporting.costs import require_priced
from kit.reporting.modes import MODES, mode_of
from kit.reporting.scorecard import (
    Scorecard,
    figure_table,
    figures_of,
    folder,
    make_scorecard,
    remarks,
    scope_sentence,
    write_scorecard,
)
from kit.reporting.verify import require_unchanged
from kit.retrieval.execute import SavedRun, searched_ids


def headline(names: list[str]) -> str:
    """The first measure that has a value for every query. Raises MeasureError when there is none."""
    name = next(filter(has_values, names), None)
    if name is not None:
        return name
    raise MeasureError("no measure has a value for every query", "measures", "Add one, such as nDCG@10")


def require_measures(params: Params) -> None:
    """Raises MeasureError for an unknown measure or none with a value a query, ParamsError for a
    cutoff below the run's end."""
    headline(params.measures)
    deep = {name: k for name in params.measures if (k := parse_measure(name)[1] or 0) > params.depth}
    if deep:
        left = [name for name in params.measures if name not in deep]
        raise ParamsError(
            f"{', '.join(deep)} need more documents than a run of depth {params.depth} has",
            "measures, depth", f"Set depth to {max(deep.values())}, or measures to [{', '.join(left)}]")


def evaluate_runs(collection, runs: list[SavedRun], params: Params) -> dict[str, Evaluation]:
    """{system: its run under the parameters' protocol and measures}."""
    require_measures(params)
    among = searched_ids(collection, params)
    return {run.system: evaluate(run.table, collection, params.protocol, params.measures, among)
            for run in runs}


def figures_of_runs(collection, runs: list[SavedRun], params: Params) -> dict[str, pd.DataFrame]:
    """{system: its figures under every protocol offered, by slice}."""
    require_measures(params)
    among = searched_ids(collection, params)
    return {run.system: all_figures(run.table, collection, _with_the_modes(run, collection, params),
                                    params.seed, among) for run in runs}


def _with_the_modes(run: SavedRun, collection, params: Params) -> list[str]:
    """The parameters' measures, and those of the run's mode that its depth allows: a mode is its
    measures, which nobody leaves out."""
    mode = MODES.get(mode_of(run.manifest["views"], collection))
    own = [m for m in (mode.measures if mode else ()) if (parse_measure(m)[1] or 0) <= params.depth]
    return list(dict.fromkeys([*params.measures, *own]))


def write_scorecards(collection, runs: list[SavedRun], figures: dict[str, pd.DataFrame],
                     params: Params) -> list[Path]:
    """A scorecard a run, and the list of them under the experiment's name; the cards' paths. Raises
    RuleError (rule 2) for a collection under the name of the kit's own data."""
    rules.require_own_name(collection)
    require_priced([run.system for run in runs], params)
    cards = [make_scorecard(collection, run, figures[run.system], params) for run in runs]
    stands = calibration.standing(cards, collection.entry, params.outputs)
    paths = [write_scorecard(card.model_copy(update={"calibration": stands}), params.outputs)
             for card in cards]
    write_json(experiment_file(params), {
        "experiment": params.experiment, "collection": collection.source,
        "environment": collection.environment, "note": collection.note,
        "scorecards": [path.name for path in paths]})
    return paths


def experiments_folder(outputs: str) -> Path:
    """Where the experiments' lists of scorecards lie, a JSON file each."""
    return outputs_folder(outputs) / "reports" / "experiments"


def experiment_file(params: Params) -> Path:
    """An experiment's list of scorecards."""
    return experiments_folder(params.outputs) / f"{params.experiment}.json"


def main_table(cards: list[Scorecard], measures: list[str]) -> pd.DataFrame:
    """The figures in short: a row a card and scope (all queries and, where the collection has
    scopes, scope OUT), a column a measure; before them n, and the labels last."""
    rows = []
    for card in cards:
        frame = figures_of(card)
        for scope in scopes_shown(frame, card.protocol):
            mine = frame[(frame["protocol"] == card.protocol) & (frame["slice"] == scope)]
            mean = mine.set_index("measure")["mean"].astype(object)
            rows.append({"system": card.system["name"], "queries": scope, "n": mine["n"].max(),
                         **{m: mean.get(m) for m in measures}, "labels": ", ".join(card.labels)})
    return pd.DataFrame(rows, columns=["system", "queries", "n", *measures, "labels"]).set_index(
        "system")


def cards_of(params: Params) -> list[Scorecard]:
    """The scorecards that the experiment's last run left."""
    stated = json.loads(experiment_file(params).read_text(encoding="utf-8"))
    return [require_unchanged(folder(params.outputs) / name, params.outputs)
            for name in stated["scorecards"]]


def card_table(params: Params) -> pd.DataFrame:
    """The experiment's scorecards: a row a card with its file and whether it may be quoted."""
    stated = json.loads(experiment_file(params).read_text(encoding="utf-8"))
    return pd.DataFrame([{
        "system": card.system["name"], "may be quoted": "yes" if card.quotable else "no",
        "labels": ", ".join(card.labels), "scorecard": name}
        for name, card in zip(stated["scorecards"], cards_of(params))])


def show_figures(figures: dict[str, pd.DataFrame], protocol: str) -> None:
    """A table a system: measures by slice under one protocol, with n and interval; below them why
    a slice is absent, or what to think of one with few queries."""
    for system, frame in figures.items():
        show.heading(system)
        table = figure_table(frame[frame["n"] > 0], protocol)
        display(show.table(table.map(_breakable)))
    for name, why in remarks(frame, protocol):
        show.say(f"{name}: {why}.")


def _breakable(cell: str) -> str:
    """A figure whose interval may stand below it, so that twelve slices fit a page."""
    return cell.replace("\N{NO-BREAK SPACE}[", " [")


def protocol_table(figures: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Means over all queries, and over scope OUT where the collection has scopes: a row a measure,
    a column a system, protocol and scope with its n."""
    columns = {}
    for system, frame in figures.items():
        for protocol, of_protocol in frame.groupby("protocol", sort=False):
            for scope in scopes_shown(frame, protocol):
                mine = of_protocol[of_protocol["slice"] == scope]
                name = f"{system}, {protocol}{over(scope)} (n={mine['n'].max()})"
                columns[name] = mine.set_index("measure")["mean"].map(_figure_text)
    return pd.DataFrame(columns).rename_axis(index="measure")


def _figure_text(value: float) -> str:
    return "—" if pd.isna(value) else f"{value:.3f}"


def sentences(names: list[str]) -> pd.DataFrame:
    """Each measure and what it says."""
    return pd.DataFrame({"measure": names, "what it says": [sentence(n) for n in names]})


def show_scopes(collection, figures: dict[str, pd.DataFrame], params: Params) -> None:
    """A picture of the first measure by scope and system, or why there is none; below it how many
    relevant pairs each scope has."""
    pairs = scope_pairs(collection, searched_ids(collection, params))
    if pairs is None:
        frame = next(iter(figures.values())).set_index("slice")
        show.say(f"This collection has no scopes: {frame.loc[SCOPES[0], 'reason'].iloc[0]}.")
        return
    measure = params.measures[0]
    of_scopes = {system: frame[frame["slice"].isin(["all", *SCOPES])]
                 for system, frame in figures.items()}
    show.picture(plots.by_slice(of_scopes, measure, params.protocol,
                                finding_scopes(of_scopes, params)),
                 f"{measure} by scope and system, with 95 % intervals")
    show.say(f"{scope_sentence(pairs[params.protocol])}.")


NEARNESS = {"by scope: pairs that share a three-character class, or share none": (SCOPES[0], FAR_SCOPE),
            "by section: queries whose documents all share theirs, or none does": ("IN", "OUT")}


def in_and_out(figures: dict[str, pd.DataFrame], measure: str, protocol: str) -> dict[str, pd.DataFrame]:
    """{what IN and OUT are of: a row a system with n, mean and interval of both, and what IN is
    above OUT}; without the kinds that lack a query on one side."""
    found = {}
    for what, sides in NEARNESS.items():
        rows = {}
        for system, frame in figures.items():
            mine = frame[(frame["measure"] == measure) & (frame["protocol"] == protocol)].set_index("slice")
            if not (mine.loc[list(sides), "n"] > 0).all():
                continue
            rows[system] = {f"{side}{' ' * bool(name)}{name}": mine.loc[s, column]
                            for side, s in zip(("IN", "OUT"), sides)
                            for name, column in (("n", "n"), ("", "mean"), ("low", "low"), ("high", "high"))}
            rows[system]["IN − OUT"] = rows[system]["IN"] - rows[system]["OUT"]
        if rows:
            found[what] = pd.DataFrame.from_dict(rows, orient="index").rename_axis("system")
    return found


def finding_in_and_out(panels: dict[str, pd.DataFrame], measure: str) -> str:
    """The title of the picture of IN against OUT: which system loses least, by the first kind."""
    what, frame = next(iter(panels.items()))
    falls = frame["IN − OUT"].sort_values(kind="stable")
    if len(falls) == 1:
        return f"{measure} of {falls.index[0]} is {falls.iloc[0]:+.2f} on IN against OUT"
    return (f"From IN to OUT {falls.index[0]} loses least, {falls.iloc[0]:.2f} of {measure}; "
            f"{falls.index[-1]} most, {falls.iloc[-1]:.2f}")


def show_in_and_out(figures: dict[str, pd.DataFrame], params: Params) -> None:
    """A picture of the first measure on IN against OUT, a row a system, and its data."""
    measure = params.measures[0]
    panels = in_and_out(figures, measure, params.protocol)
    if not panels:
        show.say("No query is IN, or none is OUT: there is nothing to hold against each other.")
        return
    show.picture(plots.in_and_out(panels, measure, finding_in_and_out(panels, measure)),
                 f"{measure} of each system on IN and on OUT, with 95 % intervals")
    for what, frame in panels.items():
        forms = {name: "{:.3f}" for name in frame if not name.endswith(" n")} | {"IN − OUT": "{:+.3f}"}
        display(show.table(frame.astype({"IN n": int, "OUT n": int}), forms, f"{measure} {what}"))


def finding_scopes(figures: dict[str, pd.DataFrame], params: Params) -> str:
    """The title of the picture of scopes: what each system has on IN and on OUT."""
    measure, parts = params.measures[0], []
    for system, frame in figures.items():
        mine = frame[(frame["measure"] == measure) & (frame["protocol"] == params.protocol)]
        mean = mine.set_index("slice")["mean"]
        parts.append(f"{system} {_number(mean[SCOPES[0]])} IN, {_number(mean[SCOPES[1]])} OUT")
    return f"{measure} by scope: {'; '.join(parts)}"


def show_recall(evaluations: dict[str, Evaluation]) -> None:
    """A picture a scope of mean recall by depth, a line a system."""
    for scope, mine in by_scope(evaluations).items():
        curves = recall_curves(mine)
        show.picture(plots.curves(curves, finding_recall(curves) + over(scope), "first k documents",
                                  "share of relevants found"),
                     f"Recall by depth, a line a system{over(scope)}")
        table = recall_table(curves)
        display(show.table(table, dict.fromkeys(table, "{:.3f}"),
                           f"Share of relevants found in the first k{over(scope)}"))


def recall_curves(evaluations: dict[str, Evaluation]) -> dict[str, pd.Series]:
    """Mean recall by depth, by system."""
    return {system: recall_by_depth(e) for system, e in evaluations.items()}


def recall_table(curves: dict[str, pd.Series]) -> pd.DataFrame:
    """The curves at the depths that people quote: a row a k, a column a system."""
    frame = pd.DataFrame(curves)
    return frame.loc[[k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if k in frame.index]]


def finding_slices(figures: dict[str, pd.DataFrame], params: Params) -> str:
    """The title of the picture of slices: what each system has on IN and OUT."""
    measure, parts, falls = params.measures[0], [], []
    for system, frame in figures.items():
        mine = frame[(frame["measure"] == measure) & (frame["protocol"] == params.protocol)]
        mean = mine.set_index("slice")["mean"]
        parts.append(f"{system} {_number(mean['IN'])} IN, {_number(mean['OUT'])} OUT")
        falls.append(mean["OUT"] < mean["IN"])
    finding = "falls across sections" if all(falls) else "near and far"
    return f"{measure} {finding}: {'; '.join(parts)}"


def finding_recall(curves: dict[str, pd.Series]) -> str:
    """The title of the picture of recall by depth."""
    return "; ".join(f"{system} finds {values.iloc[-1]:.0%} within {values.index[-1]}"
                     for system, values in curves.items() if len(values))


def _number(value: float) -> str:
    return "—" if pd.isna(value) else f"{value:.2f}"
