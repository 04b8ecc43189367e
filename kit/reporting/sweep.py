"""What `60_passages` shows: a sweep over passages, what it chose, and what the choice is worth."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import yaml
from IPython.display import HTML, display

from kit.collection.schema import require_sound
from kit.evaluation.evaluate import evaluate, figures
from kit.evaluation.grid import (
    CHOSEN,
    DOCUMENT,
    HELD_COLUMNS,
    PLAIN,
    SCOPE_SLICES,
    UNTUNED,
    Setting,
    choices,
    grid_figures,
    held,
)
from kit.evaluation.tuning import ChosenK, Halves, chosen_k, halves
from kit.evaluation.uncertainty import FEW, caution
from kit.files import outputs_folder, written_whole
from kit.params import FIELDS, Params
from kit.progress import say
from kit.reporting import plots, show
from kit.reporting.score import headline, require_measures
from kit.retrieval.execute import SavedRun, retrieve
from kit.retrieval.sweep import (
    DOCUMENTS,
    Cell,
    require_sweepable,
    searched_queries,
    sweep_aggregations,
    sweep_cell,
    sweep_lengths,
    sweep_systems,
)

SECONDS = ("preprocessing", "index", "search")
OURS = ("experiment", "systems", "passage_length", "passage_aggregation", "passage_answers",
        "sweep_lengths", "sweep_aggregations", "run_files", "fusion_of", "fusion_weights")


@dataclass(frozen=True)
class Sweep:
    """Every run of a sweep, and what was made of them. cells: by (system, length), 0 for search over
    whole documents. grid: figures of the tuning half (`grid.GRID_COLUMNS`). chosen: by (system,
    scope). held: figures of the reporting half (`grid.HELD_COLUMNS`)."""

    collection: object
    params: Params
    cells: dict[tuple[str, int], Cell | SavedRun]
    parts: Halves
    grid: pd.DataFrame
    chosen: dict[tuple[str, str], Setting]
    held: pd.DataFrame

    @property
    def measure(self) -> str:
        """The measure by which settings are chosen: the first that has a value a query."""
        return headline(self.params.measures)

    @property
    def scopes(self) -> list[str]:
        """The scopes in which something could be chosen."""
        return [scope for scope in SCOPE_SLICES if any(s == scope for _, s in self.chosen)]

    @property
    def systems(self) -> list[str]:
        """The systems of passages."""
        return sweep_systems(self.params)

    def run(self, setting: Setting) -> SavedRun:
        """The run of one setting."""
        cell = self.cells[setting.system, setting.length]
        if isinstance(cell, SavedRun):
            return cell
        return cell.as_run(setting.aggregation, searched_queries(self.collection, self.params))

    @cached_property
    def fused(self) -> ChosenK | None:
        """The fusion of each system's best setting over all queries, with K chosen on the tuning
        half; None for one system."""
        best = [self.chosen[name, "ALL"] for name in self.systems]
        if len(best) < 2:
            return None
        return chosen_k([self.run(setting) for setting in best], self.collection,
                        self.params.protocol, self.measure, self.parts, seed=self.params.seed)


def search(collection, params: Params, told: Callable[[str, int, Cell | SavedRun], None] = None
           ) -> dict[tuple[str, int], Cell | SavedRun]:
    """{(system, length): its runs}, length 0 for whole documents. What is there is opened again, so
    that a sweep that was cut short goes on where it stopped. told: hears of each as it is there.

    Raises what `require_sweepable` and `retrieve` raise.
    """
    require_sweepable(params)
    require_sound(collection)
    found = {}
    for name in sweep_systems(params):
        for length in [0, *sweep_lengths(params)]:
            say(f"{name}: {f'passages of {length} tokens' if length else 'whole documents'}")
            found[name, length] = (sweep_cell(collection, name, length, params) if length else
                                   retrieve(collection, DOCUMENTS[name], params))
            if told:
                told(name, length, found[name, length])
    return found


def sweep(collection, params: Params, told=None) -> Sweep:
    """The sweep of an experiment: searched (see `search`), chosen on one half of the queries and held
    against the other. Raises KitError where a half would be empty."""
    require_measures(params)
    parts = halves(collection, params.seed, searched_queries(collection, params))
    cells = search(collection, params, told)
    runs = _tables(cells)
    scored = (collection, params.protocol, params.measures)
    grid = grid_figures(runs, *scored, parts.tuning)
    chosen = choices(grid, headline(params.measures))
    untuned = (params.passage_length, params.passage_aggregation)
    return Sweep(collection, params, cells, parts, grid, chosen,
                 held(runs, chosen, untuned, *scored, parts, params.seed))


def _tables(cells: dict) -> dict[Setting, Callable]:
    """What reads the run of each setting: of a system whole documents first, then lengths ascending,
    each with its aggregations in their order."""
    found = {}
    for (name, length), cell in cells.items():
        if length:
            found |= {Setting(name, length, each): (lambda c=cell, a=each: c.table(a))
                      for each in cell.aggregations}
        else:
            found[Setting(name, 0, DOCUMENT)] = lambda c=cell: c.table
    return found


# --- what was tried -------------------------------------------------------------------------------

def facts(swept: Sweep) -> HTML:
    """What is tried, on which queries it is chosen, and on which it is reported."""
    params = swept.params
    return show.facts({
        "systems": ", ".join(swept.systems),
        "passage lengths": f"{', '.join(map(str, sweep_lengths(params)))} tokens of the system's own",
        "stride": params.passage_stride or "half the length",
        "aggregations": ", ".join(sweep_aggregations(params)),
        "chosen by": f"{swept.measure} on the tuning half: {len(swept.parts.tuning)} queries",
        "reported on": f"the other {len(swept.parts.reporting)} queries",
        "where settings are alike": "the shorter passage, then the aggregation named first",
        "untuned setting": _named(params.passage_length, params.passage_aggregation),
    }, ". ".join([*swept.parts.notes, *few_to_tune(swept)]))


def few_to_tune(swept: Sweep) -> list[str]:
    """What to think of a tuning half with few queries; empty where it has enough."""
    n = len(swept.parts.tuning)
    return [f"Settings are chosen on {n} queries, too few to tell near ones apart"] if n < FEW else []


def _named(length: int, aggregation: str) -> str:
    return f"{length} × {aggregation}" if length else DOCUMENT


# --- pictures -------------------------------------------------------------------------------------

def show_heat_maps(swept: Sweep) -> None:
    """A row of maps a system, one a scope: lengths × aggregations on the tuning half."""
    for name in swept.systems:
        maps = {scope: _map(swept, name, scope) for scope in swept.scopes
                if (name, scope) in swept.chosen}
        marked = {scope: (f"{swept.chosen[name, scope].length}", swept.chosen[name, scope].aggregation)
                  for scope in maps}
        title = finding_grid(swept, name)
        figures_ = ", ".join(f"{scope} {frame.loc[marked[scope]]:.3f}" for scope, frame in maps.items())
        show.picture(plots.heat_maps(maps, marked, title, "tokens a passage"),
                     f"{title}. By passage length and aggregation, a map a scope, at best {figures_}")


def _map(swept: Sweep, system: str, scope: str) -> pd.DataFrame:
    """Lengths × aggregations of one scope, whole documents last, with one value for all."""
    grid = swept.grid
    mine = grid[(grid["system"] == system) & (grid["scope"] == scope)
                & (grid["measure"] == swept.measure)]
    found = mine[mine["length"] > 0].pivot(index="length", columns="aggregation", values="mean")
    found = found[sweep_aggregations(swept.params)].rename(index=str)
    found.loc[DOCUMENT] = mine.loc[mine["length"] == 0, "mean"].iloc[0]
    return found


def finding_grid(swept: Sweep, system: str) -> str:
    """The title of a system's heat maps: which setting is best in which scopes."""
    scopes: dict[str, list[str]] = {}
    for scope in swept.scopes:
        if best := swept.chosen.get((system, scope)):
            scopes.setdefault(_named(best.length, best.aggregation), []).append(scope)
    parts = [f"{setting} for {', '.join(names)}" for setting, names in scopes.items()]
    return f"{system}, {swept.measure} on the tuning half: best is {'; '.join(parts)}"


def show_best(swept: Sweep) -> None:
    """A picture a system: the chosen setting, the untuned one and whole documents, by scope, on the
    reporting half."""
    for name in swept.systems:
        mine = swept.held[swept.held["system"] == name]
        series = {setting: _as_figures(mine[mine["setting"] == setting], swept)
                  for setting in (PLAIN, UNTUNED, CHOSEN)}
        show_by_scope(swept, series, finding_best(swept, name))


def _as_figures(rows: pd.DataFrame, swept: Sweep) -> pd.DataFrame:
    return rows.assign(protocol=swept.params.protocol, slice=rows["scope"])


def show_by_scope(swept: Sweep, series: dict[str, pd.DataFrame], title: str) -> None:
    """A picture of figures by scope, a colour a name; its words hold them all."""
    said = []
    for name, rows in series.items():
        mine = rows[(rows["measure"] == swept.measure) & (rows["n"] > 0)]
        said.append(f"{name}: " + ", ".join(f"{r.scope} {_with_interval(r.mean, r.low, r.high)}"
                                            for r in mine.itertuples()))
    show.picture(plots.by_slice(series, swept.measure, swept.params.protocol, title),
                 f"{title}. On the reporting half, with 95 % intervals. {'; '.join(said)}")


def finding_best(swept: Sweep, system: str) -> str:
    """The title of a system's picture: what the choices for ALL and OUT have on the reporting half,
    and what search over whole documents has."""
    mine = swept.held[(swept.held["system"] == system) & (swept.held["measure"] == swept.measure)]
    return f"{system}, {swept.measure}: " + _against(
        {scope: rows.set_index("setting")["mean"] for scope, rows in mine.groupby("scope")},
        lambda mean: (mean[CHOSEN], mean[PLAIN]), "documents")


def _against(means: dict[str, pd.Series], pair: Callable, other: str) -> str:
    """A figure of ALL and of OUT, where there is one, each beside another."""
    found = {scope: pair(means[scope]) for scope in ("ALL", "OUT") if scope in means}
    ours = ", ".join(f"{scope} {mine:.2f}" for scope, (mine, _) in found.items())
    return f"{ours} ({other} {', '.join(f'{theirs:.2f}' for _, theirs in found.values())})"


# --- tables ---------------------------------------------------------------------------------------

def best_table(swept: Sweep) -> pd.DataFrame:
    """The choices with their figures on the reporting half and the seconds that they took: a row a
    system, scope and setting."""
    rows = []
    keys = ["system", "scope", "setting", "length", "aggregation"]
    for key, mine in swept.held.groupby(keys, sort=False):
        row = dict(zip(keys[:3], key)) | {"passages": _named(*key[3:]) if key[3] else None,
                                          "n": mine["n"].iloc[0]}
        for figure in mine.itertuples(index=False):
            row[figure.measure] = _with_interval(figure.mean, figure.low, figure.high)
        rows.append(row | seconds_of(swept.cells[key[0], key[3]]))
    return pd.DataFrame(rows)


def show_best_table(swept: Sweep) -> None:
    """The same, a table a system."""
    for name, rows in best_table(swept).groupby("system", sort=False):
        show.heading(name)
        unbroken = {m: [text.replace(" ", "\N{NO-BREAK SPACE}") for text in rows[m]]
                    for m in swept.params.measures}
        display(show.table(rows.assign(**unbroken).drop(columns="system").reset_index(drop=True),
                           SECOND_FORMATS))


def _with_interval(mean: float, low: float, high: float) -> str:
    if pd.isna(mean):
        return "—"
    return f"{mean:.3f}" if pd.isna(low) else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def seconds_of(cell: Cell | SavedRun) -> dict[str, float]:
    """Seconds of preprocessing, index and search; of passages for all aggregations together."""
    seconds = (cell.manifest["cost"] if isinstance(cell, SavedRun) else cell.stated["seconds"])
    suffix = "_seconds" if isinstance(cell, SavedRun) else ""
    return {f"{name} s": seconds[f"{name}{suffix}"] for name in SECONDS}


def time_table(swept: Sweep) -> pd.DataFrame:
    """A row a system and length: passages, how many of them the model cut, and the seconds."""
    rows = []
    for (name, length), cell in swept.cells.items():
        notes = cell.manifest["notes"] if isinstance(cell, SavedRun) else cell.stated["notes"]
        rows.append({"system": name, "tokens a passage": length or DOCUMENT,
                     "passages": notes.get("passages"),
                     "cut by the model": notes.get("passages_cut", notes.get("corpus_texts_cut")),
                     **seconds_of(cell)})
    return pd.DataFrame(rows).astype({"passages": object, "cut by the model": object})


SECOND_FORMATS = {f"{name} s": "{:.1f}" for name in SECONDS}


def cautions(swept: Sweep) -> None:
    """Says which scopes have too few queries on the reporting half to tell much."""
    few = {f"{scope} (n={rows['n'].iloc[0]})": said for scope, rows in
           swept.held.groupby("scope", sort=False) if (said := caution(rows["n"].iloc[0]))}
    if few:
        show.say(f"{', '.join(few)}: {next(iter(few.values()))}.")


def show_passage(swept: Sweep) -> None:
    """The first relevant document that each system's best setting finds for a query of the reporting
    half, with the passage that put it there."""
    runs = [swept.run(swept.chosen[name, "ALL"]) for name in swept.systems]
    display(show.passages(swept.collection, runs, swept.parts.reporting[0]))


# --- fusion ---------------------------------------------------------------------------------------

def fusion_figures(swept: Sweep) -> pd.DataFrame:
    """The fusion and what is fused, on the reporting half, by scope: columns as HELD_COLUMNS, where
    `system` is the fusion or the system's name."""
    series = {name: held_figures(swept, swept.chosen[name, "ALL"]) for name in swept.systems}
    series[f"fusion, K={swept.fused.k}"] = swept.fused.figures
    slices = {name: scope for scope, name in SCOPE_SLICES.items()}
    rows = [frame[(frame["measure"] == swept.measure) & frame["slice"].isin(slices)].assign(
        system=name, scope=lambda f: f["slice"].map(slices), setting=CHOSEN, length=0, aggregation="")
        for name, frame in series.items()]
    return pd.concat(rows, ignore_index=True)[HELD_COLUMNS]


def held_figures(swept: Sweep, setting: Setting) -> pd.DataFrame:
    """The figures of one setting on the reporting half, by slice."""
    evaluation = evaluate(swept.run(setting).table, swept.collection, swept.params.protocol,
                          swept.params.measures, swept.parts.reporting)
    return figures(evaluation, swept.params.seed)


def show_fusion(swept: Sweep) -> None:
    """A picture of the fusion beside what is fused, by scope, on the reporting half; and how K was
    chosen."""
    if swept.fused is None:
        show.say("There is one system of passages: nothing to fuse.")
        return
    found = fusion_figures(swept)
    series = {name: _as_figures(rows, swept) for name, rows in found.groupby("system", sort=False)}
    show_by_scope(swept, series, finding_fusion(swept, found))
    tried = swept.fused.table.set_index("k").T.rename_axis(columns="K")
    display(show.table(tried.rename(index={"tuning": swept.measure}), dict.fromkeys(tried, "{:.4f}"),
                       "What each K has on the tuning half; of those that are alike the lowest is taken"))


def finding_fusion(swept: Sweep, found: pd.DataFrame) -> str:
    """The title of the picture of the fusion: its figures beside the best of what is fused."""
    name = f"fusion, K={swept.fused.k}"
    means = {scope: rows.set_index("system")["mean"]
             for scope, rows in found[found["n"] > 0].groupby("scope")}
    return f"{name}, {swept.measure}: " + _against(
        means, lambda mean: (mean[name], mean.drop(name).max()), "best alone")


# --- what is left behind --------------------------------------------------------------------------

def export(swept: Sweep) -> list[Path]:
    """Writes the whole grid and the choices, each as CSV and Parquet, with the seconds; the paths."""
    home = outputs_folder(swept.params.outputs) / "reports" / "sweeps" / swept.params.experiment
    seconds = {key: seconds_of(cell) for key, cell in swept.cells.items()}
    paths = []
    for name, frame in {"grid": swept.grid, "best": swept.held}.items():
        half = "tuning" if name == "grid" else "reporting"
        times = pd.DataFrame([seconds[key] for key in zip(frame["system"], frame["length"])],
                             index=frame.index).rename(columns=lambda c: c.replace(" s", "_seconds"))
        of = {"environment": swept.collection.environment, "query_view": swept.params.query_view,
              "corpus_view": swept.params.corpus_view, "protocol": swept.params.protocol}
        whole = pd.concat([frame.assign(**of, half=half), times], axis=1)
        for suffix, write in {".csv": whole.to_csv, ".parquet": whole.to_parquet}.items():
            with written_whole(home / f"{name}{suffix}") as part:
                write(part, index=False)
            paths.append(home / f"{name}{suffix}")
    return paths


def show_export(swept: Sweep) -> None:
    """Writes the grid and the choices, and says where they lie below the outputs folder."""
    home = outputs_folder(swept.params.outputs)
    named = ", ".join(path.relative_to(home).as_posix() for path in export(swept))
    show.say(f"Written below the outputs folder: {named}; {len(swept.grid)} rows of the grid.")


def command(swept: Sweep, system: str) -> str:
    """The command that runs a system at its best setting over all queries, beside BM25 and a public
    embedding, which makes the scorecard that may be quoted."""
    best, params = swept.chosen[system, "ALL"], swept.params
    same = {name: value for name, value in params.model_dump().items()
            if name not in OURS and value != FIELDS[name].default}
    given = {"experiment": f"{params.experiment}-{system}"[:80],
             "systems": [*DOCUMENTS.values(), system], "passage_length": best.length,
             "passage_aggregation": best.aggregation, **same}
    return " ".join(["python -m kit run", *(f"-p {name} {shlex.quote(_typed(value))}"
                                            for name, value in given.items())])


def _typed(value) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).split("\n...")[0].strip()


def show_commands(swept: Sweep) -> None:
    """The command of each system's best setting."""
    for name in swept.systems:
        print(command(swept, name))
