"""The pictures, in one style. Each takes data and a title that says what it shows.

A system has one colour, and one marker, dash and hatch for those who can't tell the colour or read
from grey paper. Texts are written as they stand: no formula, nothing that acts.
"""

import io
import warnings
from textwrap import fill

import matplotlib
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from kit.evaluation.uncertainty import FEW
from kit.visible import visible

# every two can be told apart with each kind of colour blindness: a test holds that
COLOURS = ["#225ea8", "#e07b26", "#1fa598", "#7a1f5c", "#14181c", "#756300"]
MARKERS, DASHES = "os^DvP", ["-", (0, (5, 2)), (0, (1, 1.5)), "-.", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1))]
HATCHES = ["", "///", "...", "\\\\\\", "xx", "--"]
GREY = "#8a949e"
_SHADES = matplotlib.colormaps["Blues"]
matplotlib.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 150, "font.family": "DejaVu Sans", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": "#333b43", "axes.grid": True, "grid.color": "#e4e8ec", "axes.axisbelow": True,
    "xtick.color": "#333b43", "ytick.color": "#333b43", "legend.frameon": False,
    "axes.prop_cycle": cycler(color=COLOURS), "hatch.linewidth": 0.7,
    "text.parse_math": False, "svg.hashsalt": "kit",
})
FORMATS = {"png": {"metadata": {"Software": None}}, "svg": {"metadata": {"Date": None, "Creator": None}}}


def drawn(figure: Figure, kind: str = "png", mark: str = "") -> bytes:
    """The figure as a PNG or SVG file, the same bytes each time. mark: stands below the picture,
    such as what forbids to quote it; the figure keeps it."""
    if mark:
        figure.supxlabel(mark, x=0.995, ha="right", fontsize=8.5, weight="bold", color="#8c2f14")
    _make_harmless(figure)
    file = io.BytesIO()
    with warnings.catch_warnings():  # a sign that the font lacks is drawn as a box
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(file, format=kind, **FORMATS[kind])
    return file.getvalue()


def _make_harmless(figure: Figure) -> None:
    """No text of the figure holds a character that acts."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            names = [label.get_text() for label in axis.get_ticklabels()]
            if names != (shown := [visible(name) for name in names]):
                axis.set_ticks(axis.get_majorticklocs(), shown)
    for text in figure.findobj(Text):
        text.set_text(visible(text.get_text()))


def _broken(names, width: int) -> list[str]:
    """Names on lines of so many signs, three at most."""
    lines = [fill(visible(str(name)), width, max_lines=3, placeholder=" …") for name in names]
    return [line or " " for line in lines]


def _look(i: int) -> dict:
    """The colour of the i-th system."""
    return {"color": COLOURS[i % len(COLOURS)]}


def _line(i: int) -> dict:
    """How the line of the i-th system looks."""
    return {**_look(i), "linestyle": DASHES[(i + i // len(COLOURS)) % len(DASHES)], "lw": 2}


def _point(i: int) -> dict:
    """How a point of the i-th system looks."""
    return {**_look(i), "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}


def _bar(i: int) -> dict:
    """How a bar of the i-th system looks."""
    return {**_look(i), "hatch": HATCHES[(i + i // len(COLOURS)) % len(HATCHES)], "edgecolor": "white",
            "linewidth": 0}


def _legend(axes, names) -> None:
    """What is what, beside the picture, where it covers nothing. names: of the groups of bars or the
    lines, in the order in which they were drawn."""
    handles = axes.containers or axes.lines
    if handles:
        axes.legend(handles, _broken(names, 24), loc="upper left",
                    bbox_to_anchor=(1, 1), handlelength=3)


def _new(title: str, width: float = 8, height: float = 3.4):
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    figure.suptitle(fill(title, int(width * 9.8)), x=0.01, ha="left", fontsize=11.5, weight="bold")
    return figure, axes


def grouped_bars(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str = "share") -> Figure:
    """A bar a row and column, as shares of the column, so that tables of two sizes compare."""
    figure, axes = _new(title)
    shares = frame / frame.sum()
    width = 0.8 / len(frame.columns)
    for i, name in enumerate(frame.columns):
        axes.bar(np.arange(len(frame)) + (i - (len(frame.columns) - 1) / 2) * width, shares[name],
                 width, **_bar(i))
    axes.set_xticks(range(len(frame)), _broken(frame.index, 16))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v * 100:.4g}%")
    axes.grid(axis="x", visible=False)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    _legend(axes, frame.columns)
    return figure


def columns(values: pd.Series, title: str, xlabel: str, ylabel: str) -> Figure:
    """A plain column a value, with its number on top where there is room."""
    figure, axes = _new(title)
    bars = axes.bar(values.index.astype(str), values, color=COLOURS[0])
    if len(values) <= 25:
        axes.bar_label(bars, padding=2, fontsize=8.5)
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.1)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    return figure


def stepped_years(frame: pd.DataFrame, title: str) -> Figure:
    """Shares of each table by year."""
    figure, axes = _new(title)
    shares = frame / frame.sum()
    for i, name in enumerate(frame.columns):
        axes.step(frame.index, shares[name], where="mid", **_line(i))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v * 100:.4g}%")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="publication year", ylabel="share of the table")
    _legend(axes, frame.columns)
    return figure


def ranges(frame: pd.DataFrame, title: str, xlabel: str) -> Figure:
    """Quartiles as a bar with the median marked, a row each, on a log axis.

    frame: columns table, field, low, median, high, longest; rows with nothing filled left out.
    """
    filled = frame[frame["median"] > 0]
    figure, axes = _new(title, height=0.34 * max(len(filled), 4) + 1.1)
    tables = list(dict.fromkeys(filled["table"]))
    for place, row in enumerate(filled.iloc[::-1].to_dict("records")):
        colour = COLOURS[tables.index(row["table"])]
        axes.plot([row["low"], row["high"]], [place, place], color=colour, lw=7, alpha=0.45,
                  solid_capstyle="butt")
        axes.plot(row["median"], place, MARKERS[tables.index(row["table"])], color=colour)
        axes.plot(row["longest"], place, "|", color=colour, ms=9)
    axes.set_yticks(range(len(filled)), [f"{r['table']}  {r['field']}"
                                         for r in filled.iloc[::-1].to_dict("records")])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda v, _: f"{v:,.0f}")
    axes.set(xlabel=xlabel)
    return figure


def share_bars(values: pd.Series, title: str, xlabel: str) -> Figure:
    """A horizontal bar a name, as a share from 0 to 1."""
    figure, axes = _new(title, height=0.32 * max(len(values), 4) + 1.1)
    bars = axes.barh(range(len(values)), values[::-1], color=COLOURS[0], height=0.65)
    axes.set_yticks(range(len(values)), _broken(values.index[::-1], 60))
    axes.bar_label(bars, labels=[f"{v:.1%}" for v in values[::-1]], padding=3, fontsize=8.5)
    axes.xaxis.set_major_formatter(lambda v, _: f"{v * 100:.4g}%")
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.12)
    axes.set(xlabel=xlabel)
    return figure


def share_intervals(frame: pd.DataFrame, title: str, xlabel: str) -> Figure:
    """A point a row at its share, with its interval. frame: index the names; columns share, low, high."""
    figure, axes = _new(title, height=0.32 * max(len(frame), 4) + 1.1)
    turned = frame[::-1]
    below, above = turned["share"] - turned["low"], turned["high"] - turned["share"]
    axes.errorbar(turned["share"], range(len(turned)), fmt="o", color=COLOURS[0], capsize=3,
                  xerr=[below.clip(lower=0), above.clip(lower=0)])  # a rounding error is no length
    axes.set_yticks(range(len(turned)), _broken(turned.index, 60))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda v, _: f"{v * 100:.4g}%")
    axes.set(xlabel=xlabel)
    return figure


def signed_bars(values: pd.Series, title: str, xlabel: str) -> Figure:
    """A horizontal bar a name, to the left of 0 or to the right."""
    figure, axes = _new(title, height=0.36 * max(len(values), 4) + 1.1)
    shown = values[::-1]
    bars = axes.barh(range(len(shown)), shown, height=0.6,
                     color=np.where(shown < 0, COLOURS[1], COLOURS[0]))
    axes.set_yticks(range(len(shown)), _broken(shown.index, 60))
    axes.bar_label(bars, labels=[f"{v:+.3f}" for v in shown], padding=3, fontsize=8.5)
    axes.axvline(0, color=GREY, lw=0.8)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.18)
    axes.set(xlabel=xlabel)
    return figure


def bars_by_group(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str) -> Figure:
    """A bar a row and column, with its share on top."""
    figure, axes = _new(title, height=3.2)
    width = 0.8 / len(frame.columns)
    for i, name in enumerate(frame.columns):
        places = np.arange(len(frame)) + (i - (len(frame.columns) - 1) / 2) * width
        bars = axes.bar(places, frame[name], width, **_bar(i))
        axes.bar_label(bars, labels=[f"{v:.0%}" for v in frame[name]], padding=2, fontsize=8)
    axes.set_xticks(range(len(frame)), _broken(frame.index, 16))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v * 100:.4g}%")
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.12)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    _legend(axes, frame.columns)
    return figure


def grouped_columns(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str) -> Figure:
    """A column a row and column of the frame, as they stand; index: numbers at equal or unequal steps."""
    figure, axes = _new(title)
    steps = np.diff(np.sort(frame.index.to_numpy()))
    width = 0.8 * (steps.min() if len(steps) else 1) / max(len(frame.columns), 1)
    for i, name in enumerate(frame.columns):
        places = frame.index + (i - (len(frame.columns) - 1) / 2) * width
        axes.bar(places, frame[name], width, **_bar(i))
    if len(frame) <= 25:
        axes.set_xticks(frame.index)
    axes.grid(axis="x", visible=False)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    _legend(axes, frame.columns)
    return figure


# from dark, what must be seen, to light; the numbers in the bars and the order tell them too
VERDICT_COLOURS = {"fault": "#8c1d18", "not as expected": "#7a1f5c", "doubt": "#b85c0b",
                   "as expected": "#225ea8", "clear": "#157a70", "noted": "#5b6770", "absent": "#727b84"}
VERDICT_HATCHES = {"fault": "xx", "not as expected": "\\\\\\", "doubt": "///", "absent": "..."}


def verdict_colours(table: pd.DataFrame) -> list[str]:
    """The colour of each column of verdicts."""
    return [VERDICT_COLOURS[name] for name in table.columns]


def stacked_bars(table: pd.DataFrame, title: str, xlabel: str, colours: list[str]) -> Figure:
    """A horizontal bar a row, made of a stretch a column; the numbers stand in them."""
    figure, axes = _new(title, height=0.34 * max(len(table), 4) + 1.3)
    shown, left = table[::-1], np.zeros(len(table))
    for name, colour in zip(table.columns, colours):
        bars = axes.barh(range(len(shown)), shown[name], left=left, color=colour, height=0.65, linewidth=0,
                         hatch=VERDICT_HATCHES.get(name, ""), edgecolor="#ffffff66")
        labels = axes.bar_label(bars, labels=[v or "" for v in shown[name]], label_type="center",
                                fontsize=8.5, color="white", weight="bold")
        for label in labels:
            label.set_path_effects([withStroke(linewidth=2, foreground=colour)])
        left += shown[name].to_numpy()
    axes.set_yticks(range(len(shown)), shown.index)
    axes.grid(axis="y", visible=False)
    axes.set(xlabel=xlabel)
    _legend(axes, table.columns)
    return figure


def by_slice(figures: dict[str, pd.DataFrame], measure: str, protocol: str, title: str) -> Figure:
    """A measure in each slice that has a query, with its 95 % interval, a colour a system.

    figures: {system: frame as evaluate.figures gives it}.
    """
    figure, axes = _new(title, width=9.6, height=3.8)
    apart = min(0.16, 0.8 / len(figures))
    for i, frame in enumerate(figures.values()):
        rows = frame[(frame["measure"] == measure) & (frame["protocol"] == protocol) & (frame["n"] > 0)]
        places = np.arange(len(rows)) + (i - (len(figures) - 1) / 2) * apart
        spread = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        axes.errorbar(places, rows["mean"], yerr=np.maximum(spread, 0), linestyle="", ms=7, capsize=4,
                      **_point(i))
        axes.set_xticks(np.arange(len(rows)), [f"{s} n={n}".replace(" ", "\n") for s, n in zip(rows["slice"], rows["n"])],
                        fontsize=8.5)
    axes.set(ylabel=measure, ylim=(0, 1.02), xlim=(-0.6, len(rows) - 0.4))
    axes.grid(axis="x", visible=False)
    _legend(axes, figures)
    return figure


def heat_maps(maps: dict[str, pd.DataFrame], marked: dict[str, tuple], title: str,
              ylabel: str) -> Figure:
    """A map a name, each with its own scale of colours and its values in the cells. The last row,
    which has one value for all columns, stands apart. marked: {name: (row, column)} to frame."""
    rows = max(len(frame) for frame in maps.values())
    figure = Figure(figsize=(max(8, 2.75 * len(maps) + 0.8), 0.36 * rows + 1.7), layout="constrained")
    figure.suptitle(fill(title, int(figure.get_figwidth() * 10)), x=0.01, ha="left", fontsize=11.5,
                    weight="bold")
    for axes, (name, frame) in zip(np.atleast_1d(figure.subplots(1, len(maps))), maps.items()):
        values, last = frame.to_numpy(), len(frame) - 1
        low, high = np.nanmin(values), np.nanmax(values)
        shades = (values - low) / (high - low) if high > low else np.zeros_like(values)
        for (i, j), value in np.ndenumerate(values):
            wide = values.shape[1] if i == last else 1
            if i == last and j:
                continue
            axes.add_patch(Rectangle((j, i + 0.15 * (i == last)), wide - 0.03, 0.96, lw=0,
                                     color=_SHADES(0.08 + 0.77 * shades[i, j])))
            axes.text(j + wide / 2, i + 0.5 + 0.15 * (i == last), f"{value:.3f}", ha="center",
                      va="center", fontsize=8.5, color="white" if shades[i, j] > 0.55 else "#333b43")
        if name in marked:
            i, j = (list(index).index(v) for index, v in zip((frame.index, frame.columns), marked[name]))
            axes.add_patch(Rectangle((j + 0.03, i + 0.03), 0.91, 0.9, fill=False, lw=2.2,
                                     edgecolor=COLOURS[1]))
        axes.set(xlim=(0, values.shape[1]), ylim=(last + 1.2, 0), title=name)
        axes.set_xticks(np.arange(values.shape[1]) + 0.5, frame.columns, fontsize=8)
        axes.set_yticks(np.arange(last + 1) + 0.5 + 0.15 * (np.arange(last + 1) == last), frame.index)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.label_outer()
    figure.axes[0].set_ylabel(ylabel)
    return figure


def curves(series: dict[str, pd.Series], title: str, xlabel: str, ylabel: str) -> Figure:
    """A line a system over a depth."""
    figure, axes = _new(title)
    for i, (name, values) in enumerate(series.items()):
        axes.plot(values.index, values, **_line(i), marker=_point(i)["marker"], ms=5,
                  markevery=max(1, len(values) // 8))
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(-0.02, 1.02))
    _legend(axes, series)
    return figure


def differences(values: pd.Series, a: str, b: str, measure: str, title: str, n: int = 1) -> Figure:
    """Each query's difference, sorted: above the line system a is better, which is the n-th behind
    the base b; each has the colour that it has in the other pictures."""
    figure, axes = _new(title)
    ordered = values.sort_values(ascending=False).to_numpy()
    ours = COLOURS[n % len(COLOURS)]
    colours = np.where(ordered > 0, ours, np.where(ordered < 0, COLOURS[0], GREY))
    axes.bar(np.arange(len(ordered)), ordered, color=colours, width=1)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.grid(axis="x", visible=False)
    axes.set(xlabel="queries, by difference", ylabel=_broken([f"{measure}: {a} − {b}"], 36)[0],
             ylim=(-1.02, 1.02))
    return figure


def trade(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str, logarithmic: bool) -> Figure:
    """A point a system, what it costs by how good it is, with its 95 % interval; a line through those that
    no other beats in both, the others hollow.

    frame: by system, with the columns cost, mean, low, high, front (bool).
    """
    figure, axes = _new(title)
    front = frame[frame["front"]].sort_values("cost")
    axes.plot(front["cost"], front["mean"], drawstyle="steps-post", color=GREY, lw=1.5, zorder=1)
    points = []
    for i, row in enumerate(frame.to_dict("records")):
        spread = [[max(row["mean"] - row["low"], 0)], [max(row["high"] - row["mean"], 0)]]
        points.append(axes.errorbar(row["cost"], row["mean"], ms=8, capsize=4, ls="none", **_point(i),
                                    yerr=None if np.isnan(spread).any() else spread,
                                    markerfacecolor=None if row["front"] else "white"))
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        axes.xaxis.set_minor_formatter(lambda v, _: "")
    else:
        axes.set_xlim(left=min(0, axes.get_xlim()[0]))
    axes.margins(x=0.1)
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(-0.02, 1.02))
    axes.legend(points, _broken(frame.index, 24), loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def growth(frame: pd.DataFrame, names: list[str], title: str, xlabel: str, ylabel: str) -> Figure:
    """A line a column over the frame's column `documents`, both axes logarithmic."""
    figure, axes = _new(title)
    for i, name in enumerate(names):
        axes.plot(frame["documents"], frame[name].astype(float), **_line(i), marker=_point(i)["marker"])
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda v, _: f"{v:,.0f}" if v >= 10 else f"{v:g}")
        axis.set_minor_formatter(lambda v, _: "")
    axes.set_xticks(frame["documents"], [f"{n:,}" for n in frame["documents"]])
    _legend(axes, names)
    return figure


def in_and_out(panels: dict[str, pd.DataFrame], measure: str, title: str) -> Figure:
    """A panel a kind of nearness, in it a row a system: IN (filled) and OUT (hollow), each with its
    95 % interval, and a line from one to the other.

    panels: {what IN and OUT are of: frame by system with the columns IN, IN low, IN high, and OUT
    likewise}.
    """
    systems = max(len(frame) for frame in panels.values())
    figure = Figure(figsize=(8, 0.5 * systems * len(panels) + 0.75 * len(panels) + 0.9), layout="constrained")
    figure.suptitle(fill(title, 78), x=0.01, ha="left", fontsize=11.5, weight="bold")
    places = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
    for axes, (name, frame) in zip(places, panels.items()):
        for place, (i, row) in enumerate(reversed(list(enumerate(frame.to_dict("records"))))):
            axes.plot([row["IN"], row["OUT"]], [place, place], lw=2.5, alpha=0.35, **_look(i))
            for side, fill_, off in (("IN", None, 0.13), ("OUT", "white", -0.13)):
                spread = [[max(row[side] - row[f"{side} low"], 0)],
                          [max(row[f"{side} high"] - row[side], 0)]]
                axes.errorbar(row[side], place + off, xerr=None if np.isnan(spread).any() else spread,
                              ms=7, capsize=4, **_point(i), markerfacecolor=fill_)
                axes.annotate(f"{side} {row[side]:.2f}", (row[side], place + off), fontsize=8,
                              xytext=(0, 7 if off > 0 else -15), textcoords="offset points", ha="center")
        axes.set_yticks(range(len(frame)), _broken(frame.index[::-1], 24))
        axes.set(ylim=(-0.65, len(frame) - 0.35), xlim=(-0.03, 1.03))
        axes.set_title(_broken([name], 90)[0], loc="left", fontsize=9.5)
        axes.grid(axis="y", visible=False)
    axes.set(xlabel=measure)
    return figure


def by_group(frames: dict[str, pd.DataFrame], measure: str, title: str, xlabel: str) -> Figure:
    """A measure in each group of queries, a colour a system, with its 95 % interval, a panel a scope;
    a hollow point stands for fewer than 30 queries.

    frames: {scope: frame of the columns group, n, system, mean, low, high, the groups in order}.
    """
    figure = Figure(figsize=(8, 0.7 + 2.6 * len(frames)), layout="constrained")
    figure.suptitle(fill(title, 78), x=0.01, ha="left", fontsize=11.5, weight="bold")
    axes_ = np.atleast_1d(figure.subplots(len(frames), 1))
    for axes, (scope, frame) in zip(axes_, frames.items()):
        _groups(axes, frame)
        axes.set(ylabel=measure)
        if len(frames) > 1:
            name = "all queries" if scope == "all" else scope
            axes.set_title(_broken([name], 90)[0], loc="left", fontsize=9.5)
    axes.set(xlabel=xlabel)
    _legend(axes_[0], frame["system"].unique())
    return figure


def _groups(axes, frame: pd.DataFrame) -> None:
    """A panel of `by_group`."""
    groups, systems = list(frame["group"].unique()), list(frame["system"].unique())
    apart = min(0.16, 0.8 / len(systems))
    for i, system in enumerate(systems):
        rows = frame[frame["system"] == system]
        places = np.array([groups.index(g) for g in rows["group"]]) + (i - (len(systems) - 1) / 2) * apart
        spread = np.nan_to_num(np.maximum([rows["mean"] - rows["low"], rows["high"] - rows["mean"]], 0))
        axes.errorbar(places, rows["mean"], yerr=spread, linestyle="", ms=7, capsize=4, **_point(i))
        few = (rows["n"] < FEW).to_numpy()
        axes.plot(places[few], rows["mean"][few], linestyle="", ms=4, zorder=3,
                  **{**_point(i), "color": "white"})
    sizes = frame.drop_duplicates("group").set_index("group")["n"]
    axes.set_xticks(range(len(groups)), [f"{name}\nn={sizes[g]}" + (", few" if sizes[g] < FEW else "")
                                         for g, name in zip(groups, _broken(groups, 16))], fontsize=8.5)
    axes.set(ylim=(0, 1.02), xlim=(-0.6, len(groups) - 0.4))
    axes.grid(axis="x", visible=False)


def matrix(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str) -> Figure:
    """Counts, a row and a column a system; the darker the more. What stands on the diagonal is of
    another kind: it is framed, and has no colour."""
    names = _broken(frame.index, 18)
    size = len(names)
    figure, axes = _new(title, height=0.5 * max(size, 2) + 1.9)
    values = frame.to_numpy(float)
    most = max(values[~np.eye(size, dtype=bool)].max(initial=0), 1)
    for (i, j), value in np.ndenumerate(values):
        own, share = i == j, values[i, j] / most
        axes.add_patch(Rectangle((j + 0.02, i + 0.03), 0.96, 0.94, lw=1 if own else 0, edgecolor=GREY,
                                 facecolor="white" if own else _SHADES(0.08 + 0.77 * share)))
        axes.text(j + 0.5, i + 0.5, f"{int(value)}", ha="center", va="center", fontsize=10,
                  style="italic" if own else "normal",
                  color="white" if not own and share > 0.55 else "#333b43")
    axes.set(xlim=(0, size), ylim=(size, 0), xlabel=xlabel, ylabel=ylabel)
    axes.set_xticks(np.arange(size) + 0.5, names)
    axes.set_yticks(np.arange(size) + 0.5, names)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure
