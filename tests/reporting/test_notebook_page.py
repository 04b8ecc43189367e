"""Notebooks as pages: nothing acts, and what the kit shows stays as it was shown."""

import base64
import io
import re

import nbformat
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from kit.reporting import notebook_page, show

ATTACKS = [
    "<script>x()</script>", "<img src=x onerror=x()>", "<svg/onload=x()>", "<a href='javascript:x()'>a</a>",
    "<a href=' jav\tascript:x()'>a</a>", "<a href='data:text/html,<script>x()</script>'>a</a>",
    "<iframe srcdoc='<script>x()</script>'></iframe>", "<object data=x></object>", "<embed src=x>",
    "<form action=x><input onfocus=x() autofocus></form>", "<base href=//x/>", "<link rel=stylesheet href=x>",
    "<meta http-equiv=refresh content='0;url=x'>", "<style>*{display:none}</style>",
    "<details ontoggle=x() open>", "<math><mtext></form><form><mglyph><style></math><img src onerror=x()>",
    "<video src=x onerror=x()>", "<img src='https://example.org/a.png'>",
    "<img src='data:image/svg+xml;base64,AAAA'>", "<p style='background:url(//x)'>",
    "<p style='position:fixed;inset:0'>", "<p id=main class='status yes'>",
    "<div role=alert aria-live=assertive>", "<table onclick=x()><thead><th onclick=x()>",
    "<button>b</button>", "<img alt='\"><thead><th><table><h2><pre><caption>' src=x>",
    "<noscript><p title='</noscript><img src=x onerror=x()>'>"]
ALLOWED = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "caption", "span", "pre", "img", "a",
           "b", "h2", "h3", "details", "summary", "ul", "li"}
ATTRIBUTES = {"class", "style", "href", "rel", "src", "alt", "id", "role", "tabindex", "aria-label", "scope",
              "colspan", "rowspan"}


def tags(html: str) -> list[str]:
    """Every tag as the parser of a browser would see it, in html that is well formed."""
    return re.findall(r"<(?:\"[^\"]*\"|[^\">])*>", html)


def require_harmless(html: str) -> None:
    for tag in tags(html):
        name = re.match(r"</?([a-z0-9]+)", tag)[1]
        names = re.findall(r"\s([a-z-]+)(?==)", re.sub(r'"[^"]*"', '""', tag))
        assert name in ALLOWED, tag
        assert set(names) <= ATTRIBUTES, tag
        rest = re.sub(r'alt="[^"]*"', "", tag)
        assert not re.search(r"url\(|position|javascript:|text/html|svg", rest), tag
        for source in re.findall(r'src="([^"]*)"', tag):
            assert source.startswith("data:image/png;base64,")


def page(*cells) -> str:
    return notebook_page.body(new_notebook(cells=[new_markdown_cell("# Title"), *cells]))


def output(**data) -> nbformat.NotebookNode:
    return new_code_cell("", outputs=[new_output("display_data", {
        name.replace("_", "/"): value for name, value in data.items()})])


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_a_notebook_that_somebody_forged_is_taken_out(attack):
    told = new_code_cell("", outputs=[new_output("stream", name="stdout", text=attack)])
    for cell in (output(text_html=attack), output(text_plain=attack), new_markdown_cell(attack), told):
        require_harmless(page(cell))


PIECES = [*ATTACKS, "<", ">", "\"", "'", "&lt;", "<!--", "-->", "]]>", "\0", "</table>"]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_no_mixture_of_attacks_comes_through(text):
    require_harmless(notebook_page.sanitised(notebook_page._with_landmarks(text)))


def test_scripts_and_widgets_are_never_what_is_shown():
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "a still"}
    html = page(output(application_javascript="x()", text_plain="in words"),
                new_code_cell("", outputs=[new_output("display_data", widget)]))
    assert "in words" in html and "a still" in html and "x()" not in html


def test_what_show_writes_keeps_its_form_with_colours_that_have_a_dark_side():
    frame = pd.DataFrame({"a": [1]}, index=pd.Index(["row"], name="name"))
    shown = [show.table(frame, caption="C & D").data, show.note_box("look"),
             f'<div style="{show.CARD}">c</div>']
    html = page(*(output(text_html=each) for each in shown))
    assert '<th scope="col">name</th>' in html and '<th scope="row">row</th>' in html
    assert "<caption><span>C &amp; D</span></caption>" in html
    assert "background:var(--warn-tint);color:var(--ink)" in html
    assert "border:1px solid var(--line)" in html and not re.search(r'style="[^"]*#', html)


def test_every_colour_that_show_writes_is_known():
    """Else it would be left out of the pages without a word."""
    with open(show.__file__, encoding="utf-8") as file:
        assert set(re.findall(r"#[0-9a-f]{6}\b", file.read())) <= set(notebook_page._COLOURS)


def test_a_table_can_be_scrolled_by_keyboard_and_has_a_name_of_its_own():
    html = page(*(output(text_html=show.facts({"a": n}).data) for n in (1, 2)))
    for n in (1, 2):
        assert f'<div class="scroll" role="region" tabindex="0" aria-label="Table {n}"><table' in html


def png(figure=None) -> str:
    figure, made = figure or Figure(figsize=(6, 3)), io.BytesIO()
    figure.subplots().plot(range(50), color="#b0413e")
    figure.savefig(made, format="png")
    return base64.b64encode(made.getvalue()).decode()


def test_a_picture_is_smaller_of_the_same_size_and_looks_the_same():
    before = png()
    html = page(output(image_png=before))
    after = re.search(r'src="data:image/png;base64,([^"]+)"', html)[1]
    assert len(after) < len(before)
    old, new = (Image.open(io.BytesIO(base64.b64decode(p))).convert("RGB") for p in (before, after))
    apart = [abs(a - b) for a, b in zip(old.tobytes(), new.tobytes())]
    assert old.size == new.size and sum(apart) / len(apart) < 1


@pytest.mark.parametrize("broken", ["", "no base64!", "AAAA", png()[:200]])
def test_a_picture_that_is_none_is_left_out(broken):
    assert "<img" not in page(output(image_png=broken))


@pytest.mark.parametrize("side", [5_000, 10_000, 14_000])
def test_a_picture_that_would_fill_the_memory_is_left_out(side):
    made = io.BytesIO()
    Image.new("1", (side, side)).save(made, format="PNG")
    assert "<img" not in page(output(image_png=base64.b64encode(made.getvalue()).decode()))


def test_the_page_has_its_own_first_heading_and_places_to_jump_to():
    html = page(new_markdown_cell("## One & two\n\ntext"), new_markdown_cell("# Another title"))
    assert "<h1" not in html and notebook_page.parts(html) == [("part-1", "One & two")]


def test_cells_for_the_operator_are_left_out():
    cell = new_markdown_cell("secret")
    cell.metadata.tags = ["site-hide"]
    assert "secret" not in page(cell)
