"""The pictures, in one style. Each takes data and a title that says what it shows."""

from textwrap import fill

import matplotlib
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

COLOURS = ["#1f5a96", "#d9822b", "#3c8d5a", "#8a4f9e", "#b0413e", "#5b6770"]
GREY = "#8a949e"
_SHADES = matplotlib.colormaps["Blues"]
matplotlib.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 150, "font.family": "DejaVu Sans", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": "#333b43", "axes.grid": True, "grid.color": "#e4e8ec", "axes.axisbelow": True,
    "xtick.color": "#333b43", "ytick.color": "#333b43", "legend.frameon": False,
    "axes.prop_cycle": cycler(color=COLOURS),
})


def _new(title: str, width: float = 8, height: float = 3.4):
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    figure.suptitle(fill(title, int(width * 11)), x=0.01, ha="left", fontsize=11.5, weight="bold")
    return figure, axes


def grouped_bars(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str = "share") -> Figure:
    """A bar a row and column, as shares of the column, so that tables of two sizes compare."""
    figure, axes = _new(title)
    shares = frame / frame.sum()
    width = 0.8 / len(frame.columns)
    for i, name in enumerate(frame.columns):
        axes.bar(np.arange(len(frame)) + (i - (len(frame.columns) - 1) / 2) * width, shares[name],
                 width, label=name, color=COLOURS[i])
    axes.set_xticks(range(len(frame)), frame.index.astype(str))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
    axes.grid(axis="x", visible=False)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend()
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
        axes.step(frame.index, shares[name], where="mid", label=name, color=COLOURS[i], lw=1.8)
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
    axes.set(xlabel="publication year", ylabel="share of the table")
    axes.legend()
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
        axes.plot(row["median"], place, "o", color=colour)
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
    bars = axes.barh(values.index[::-1], values[::-1], color=COLOURS[0], height=0.65)
    axes.bar_label(bars, labels=[f"{v:.1%}" for v in values[::-1]], padding=3, fontsize=8.5)
    axes.xaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.12)
    axes.set(xlabel=xlabel)
    return figure


def signed_bars(values: pd.Series, title: str, xlabel: str) -> Figure:
    """A horizontal bar a name, to the left of 0 or to the right."""
    figure, axes = _new(title, height=0.36 * max(len(values), 4) + 1.1)
    shown = values[::-1]
    bars = axes.barh(shown.index, shown, height=0.6,
                     color=np.where(shown < 0, COLOURS[1], COLOURS[0]))
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
        bars = axes.bar(places, frame[name], width, label=name, color=COLOURS[i])
        axes.bar_label(bars, labels=[f"{v:.0%}" for v in frame[name]], padding=2, fontsize=8)
    axes.set_xticks(range(len(frame)), frame.index.astype(str))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.12)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def grouped_columns(frame: pd.DataFrame, title: str, xlabel: str, ylabel: str) -> Figure:
    """A column a row and column of the frame, as they stand."""
    figure, axes = _new(title)
    width = 0.8 / max(len(frame.columns), 1)
    for i, name in enumerate(frame.columns):
        places = frame.index + (i - (len(frame.columns) - 1) / 2) * width
        axes.bar(places, frame[name], width, label=name, color=COLOURS[i])
    if len(frame) <= 25:
        axes.set_xticks(frame.index)
    axes.grid(axis="x", visible=False)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if len(frame.columns):
        axes.legend()
    return figure


VERDICT_COLOURS = {"fault": "#b0413e", "not as expected": "#8a4f9e", "doubt": "#d9822b",
                   "as expected": "#1f5a96", "clear": "#3c8d5a", "noted": "#5b6770", "absent": "#aab3bb"}


def verdict_colours(table: pd.DataFrame) -> list[str]:
    """The colour of each column of verdicts."""
    return [VERDICT_COLOURS[name] for name in table.columns]


def stacked_bars(table: pd.DataFrame, title: str, xlabel: str, colours: list[str]) -> Figure:
    """A horizontal bar a row, made of a stretch a column; the numbers stand in them."""
    figure, axes = _new(title, height=0.34 * max(len(table), 4) + 1.3)
    shown, left = table[::-1], np.zeros(len(table))
    for name, colour in zip(table.columns, colours):
        bars = axes.barh(shown.index, shown[name], left=left, label=name, color=colour, height=0.65)
        axes.bar_label(bars, labels=[v or "" for v in shown[name]], label_type="center",
                       fontsize=8.5, color="white")
        left += shown[name].to_numpy()
    axes.grid(axis="y", visible=False)
    axes.set(xlabel=xlabel)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def by_slice(figures: dict[str, pd.DataFrame], measure: str, protocol: str, title: str) -> Figure:
    """A measure in each slice that has a query, with its 95 % interval, a colour a system.

    figures: {system: frame as evaluate.figures gives it}.
    """
    figure, axes = _new(title, height=3.6)
    for i, (system, frame) in enumerate(figures.items()):
        rows = frame[(frame["measure"] == measure) & (frame["protocol"] == protocol) & (frame["n"] > 0)]
        places = np.arange(len(rows)) + (i - (len(figures) - 1) / 2) * 0.16
        spread = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        axes.errorbar(places, rows["mean"], yerr=np.maximum(spread, 0), fmt="o", ms=7, capsize=4,
                      label=system, color=COLOURS[i % len(COLOURS)])
        axes.set_xticks(np.arange(len(rows)), [f"{s} n={n}".replace(" ", "\n") for s, n in zip(rows["slice"], rows["n"])],
                        fontsize=8.5)
    axes.set(ylabel=measure, ylim=(0, 1.02), xlim=(-0.6, len(rows) - 0.4))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
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
        axes.plot(values.index, values, label=name, color=COLOURS[i], lw=2)
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(-0.02, 1.02))
    axes.legend(loc="lower right")
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
    axes.set(xlabel="queries, by difference", ylabel=f"{measure}: {a} − {b}", ylim=(-1.02, 1.02))
    return figure


def growth(frame: pd.DataFrame, names: list[str], title: str, xlabel: str, ylabel: str) -> Figure:
    """A line a column over the frame's column `documents`, both axes logarithmic."""
    figure, axes = _new(title)
    for i, name in enumerate(names):
        axes.plot(frame["documents"], frame[name].astype(float), "o-", label=name, color=COLOURS[i], lw=2)
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda v, _: f"{v:,.0f}" if v >= 10 else f"{v:g}")
        axis.set_minor_formatter(lambda v, _: "")
    axes.set_xticks(frame["documents"], [f"{n:,}" for n in frame["documents"]])
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
