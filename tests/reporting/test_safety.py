"""Text from collections, systems, parameters and run files is data: behind no door does it act.

The pages of the site are opened in a browser elsewhere; here are the notebook, the console, markdown,
LaTeX, CSV and the pictures.
"""

import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from kit import cli, commands, progress
from kit.errors import KitError
from kit.reporting import formats, plots, scorecard, show
from kit.visible import Screen, visible

PAYLOADS = {
    "script": "<script>document.title='acted'</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "attribute": "\" onmouseover=\"alert(1)\" x='",
    "end of the table": "</td></table><h1>acted</h1>",
    "link": "[read](javascript:alert(1))",
    "picture": "![x](http://127.0.0.1/x.png)",
    "reference": "[x]: javascript:alert(1)",
    "heading": "# acted",
    "list": "1. acted",
    "rule": "---",
    "table": "a | b |\n| --- | --- |",
    "code": "`x` ~~~ ```",
    "math": r"$\href{javascript:alert(1)}{x}$ \(x\) $$y$$",
    "broken math": r"$\frac{",
    "latex": r"\input{/etc/passwd} \write18{touch x} } \end{document} & # % _ ^ ~",
    "line of latex": "\\\\ \\hline",
    "formula": "=HYPERLINK(\"http://127.0.0.1\")",
    "formula by a sign": "@SUM(1)",
    "formula behind a blank": " =1+1",
    "formula by a tab": "\t=1+1",
    "terminal": "\x1b[2J\x1b]0;acted\x07 \x9b31m \x9d0;acted\x9c",
    "return": "harmless\rkit: all is well",
    "turned": "abc\u202etxt.exe\u202c \u2066x\u2069",
    "hidden": "a\U000e0041b",
    "underscore": "_nolegend_",
    "long": "w" * 300,
}
all_payloads = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")


class Seen(HTMLParser):
    """The tags, the attributes and each stretch of text between tags."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), set(), []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data):
        self.texts.append(data)


# --- the notebook -----------------------------------------------------------------------------------

def displays(payload, monkeypatch) -> dict[str, str]:
    """The HTML of everything that `show` shows of a text, by name."""
    said = []
    monkeypatch.setattr(show, "display", said.append)
    show.say(payload), show.heading(payload)
    frame = pd.DataFrame({payload: [payload, 1.5]}, index=pd.Index([payload, "b"], name=payload))
    patent = {"query_id": payload, "title": payload, "abstract": payload, "claims": payload, "text": payload,
              "ipc": [payload], "source_xpn": payload, "publication_date": payload}
    return {"say": said[0].data, "heading": said[1].data, "facts": show.facts({payload: payload}, payload).data,
            "table": show.table(frame, caption=payload).data, "data": show.data(pd.concat([frame] * 9)).data,
            "patent": show.harmless(show.patent(patent, payload)).data}


@all_payloads
def test_in_the_notebook_it_is_text(payload, monkeypatch):
    plain = displays("plain", monkeypatch)
    for name, html in displays(payload, monkeypatch).items():
        seen, usual = Seen(html), Seen(plain[name])
        assert seen.tags <= usual.tags | {"span"} and seen.attributes == usual.attributes, name
        assert not ACTING.search(html), name


@pytest.mark.parametrize("name", ["math", "broken math", "latex"])
def test_in_the_notebook_no_text_is_typeset_as_a_formula(name, monkeypatch):
    """JupyterLab typesets what stands between two signs in one stretch of text; here each is alone."""
    for html in displays(PAYLOADS[name], monkeypatch).values():
        assert all(text in ("$", "\\") or not re.search(r"[$\\]", text) for text in Seen(html).texts)


# --- the console ------------------------------------------------------------------------------------

@all_payloads
def test_on_the_console_nothing_acts_and_json_stays_the_same(payload, capsys, monkeypatch):
    monkeypatch.setattr(commands, "models", lambda options: print(payload) or print(
        json.dumps({payload: payload}, ensure_ascii=False)))
    assert cli.main(["models"]) == 0
    shown = capsys.readouterr().out
    assert not ACTING.search(shown)
    assert json.loads(shown.splitlines()[-1]) == {payload: payload}


@all_payloads
def test_in_an_error_nothing_acts_and_it_stays_one_line(payload, capsys, monkeypatch):
    def fails(options):
        raise KitError(payload, payload, payload)
    monkeypatch.setattr(commands, "models", fails)
    assert cli.main(["models"]) == 1
    shown = capsys.readouterr().err
    assert not ACTING.search(shown) and shown.count("\n") == 1


@all_payloads
def test_in_a_line_of_progress_nothing_acts(payload, tmp_path, monkeypatch):
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "progress"))
    progress.say(payload)
    assert not ACTING.search((tmp_path / "progress").read_text(encoding="utf-8"))


def test_the_screen_takes_what_moves_the_cursor_only_raw():
    stream = io.StringIO()
    screen = Screen(stream)
    print("a\x1b[2J\tb", file=screen)
    print("\r\x1b[K", end="", file=screen.raw)
    assert stream.getvalue() == "a\\u001b[2J\tb\n\r\x1b[K"


def test_half_a_character_can_be_printed():
    assert visible("\ud800x") == "\\ud800x" and str(KitError("\udc00")) == "\\udc00"


def test_what_does_not_act_stays_as_it_is():
    text = "Ventil für 5 µm, 弁\tµ\nzwei — “x” \N{NO-BREAK SPACE}é"
    assert visible(text) == text


# --- files ------------------------------------------------------------------------------------------

@all_payloads
def test_in_markdown_it_is_text(payload):
    line = formats.literal(payload)
    assert "\n" not in line and not ACTING.search(line) and "<" not in line
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", line)  # without what is escaped
    assert not re.search(r"[\[\]`*|$\\#!~]", bare)
    assert not re.match(r"\d+[.)](\s|$)|[-+](\s|$)|[-=]+$", line)


@all_payloads
def test_in_the_cell_of_a_scorecard_it_is_text(payload):
    head, rule, row = scorecard.markdown_table(pd.DataFrame({payload: [payload]}))
    assert rule == "| --- |"
    for line in (head, row):
        assert line.count("|") == 2 and "<" not in line and "](" not in line and not ACTING.search(line)


@all_payloads
def test_in_latex_it_is_text(payload):
    text = formats.latex_text(payload)
    known = r"\\text(?:backslash|asciitilde|asciicircum|less|greater|bar|quotedbl)\{\}|\\[&%$#_{}]"
    assert not re.search(r"[\\&%$#_{}~^\n]", re.sub(known, "", text))
    table = formats.latex(pd.DataFrame({payload: [payload, "b"]}), payload)
    assert table.count(r"\end{longtable}") == 1 and len(table.splitlines()) == 11


@all_payloads
def test_in_csv_no_text_is_a_formula_and_numbers_stay_numbers(payload):
    frame = pd.DataFrame({payload: [payload, "b"], "n": [-1.5, 2]})
    read = pd.read_csv(io.StringIO(formats.csv(frame)))
    assert list(read["n"]) == [-1.5, 2.0]
    for text in (read.columns[0], read.iloc[0, 0]):
        assert not re.match(r"\s*[=+\-@\t]", text) and not ACTING.search(text)


# --- pictures ---------------------------------------------------------------------------------------

def drawings(text: str) -> dict:
    """The pictures with a text as title, system, group and axis; a measure is never a text."""
    values = pd.Series([0.2, 0.4], index=[text, "b"], name=text)
    frame = pd.DataFrame({text: [1, 2], "b": [2, 1]}, index=[text, "b"])
    groups = pd.DataFrame({"group": [text, "b"], "n": [3, 40], "system": text, "mean": 0.5, "low": 0.4, "high": 0.6})
    sides = pd.DataFrame({name: [0.4, 0.5] for name in ("IN", "IN low", "IN high", "OUT", "OUT low", "OUT high")},
                         index=[text, "b"])
    return {"share_bars": plots.share_bars(values, text, text), "signed_bars": plots.signed_bars(values, text, text),
            "grouped_bars": plots.grouped_bars(frame, text, text), "bars": plots.bars_by_group(frame / 2, text, text, "y"),
            "curves": plots.curves({text: pd.Series([0.1, 0.2], index=[1, 2])}, text, text, "y"),
            "by_group": plots.by_group({text: groups, "b": groups}, "m", text, text),
            "in_and_out": plots.in_and_out({text: sides}, text, text),
            "matrix": plots.matrix(frame, text, text, "y"),
            "differences": plots.differences(pd.Series([0.1, -0.1]), text, text, "m", text)}


@all_payloads
def test_in_a_picture_it_is_drawn_as_it_stands(payload):
    for name, figure in drawings(payload).items():
        made = plots.drawn(figure, "svg", payload)
        seen = ElementTree.fromstring(made)
        kinds = {element.tag.split("}")[1] for element in seen.iter() if "}" in str(element.tag)}
        assert not kinds & {"script", "image", "a", "foreignObject"}, name
        assert not ACTING.search(made.decode("utf-8")), name
        assert not any(text.get_text() and ACTING.search(text.get_text()) for text in figure.findobj(
            plots.Text)), name


def test_a_system_that_begins_with_an_underscore_stands_in_the_legend():
    figure = plots.curves({"_nolegend_": pd.Series([0.1]), "b": pd.Series([0.2])}, "t", "x", "y")
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["_nolegend_", "b"]


def test_a_picture_is_the_same_bytes_each_time():
    for kind in ("svg", "png"):
        first, again = (plots.drawn(drawings("x")["curves"], kind, "MADE-UP") for _ in range(2))
        assert first == again, kind
        assert b"<dc:date>" not in first


def test_the_mark_stands_in_the_picture():
    figure = drawings("x")["curves"]
    plots.drawn(figure, mark="MADE-UP: not to be quoted")
    assert figure.get_supxlabel() == "MADE-UP: not to be quoted"


# --- colours ----------------------------------------------------------------------------------------

# Machado, Oliveira & Fernandes, IEEE TVCG 15(6), 2009: full protanopia, deuteranopia, tritanopia
BLINDNESS = {
    "none": np.eye(3),
    "red": np.array([[.152286, 1.052583, -.204868], [.114503, .786281, .099216], [-.003882, -.048116, 1.051998]]),
    "green": np.array([[.367322, .860646, -.227968], [.280085, .672501, .047413], [-.011820, .042940, .968881]]),
    "blue": np.array([[1.255528, -.076749, -.178779], [-.078411, .930809, .147602], [.004733, .691367, .303900]])}


def lab(colour: str, blindness: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of a colour as it is seen."""
    rgb = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.clip(blindness @ np.where(rgb <= .04045, rgb / 12.92, ((rgb + .055) / 1.055) ** 2.4), 0, 1)
    xyz = np.array([[.4124, .3576, .1805], [.2126, .7152, .0722], [.0193, .1192, .9505]]) @ linear
    f = np.cbrt(xyz / [.9505, 1, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_colours_of_two_systems_can_be_told_apart(kind):
    seen = [lab(colour, BLINDNESS[kind]) for colour in plots.COLOURS]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 15  # some 2 can just be seen


def test_two_systems_differ_by_more_than_their_colour():
    looks = [(plots._line(i)["linestyle"], plots._point(i)["marker"], plots._bar(i)["hatch"]) for i in range(6)]
    assert all(len({look[part] for look in looks}) == 6 for part in range(3))
