"""An executed notebook as HTML for a page: no code, no scripts, and nothing that could act.

A notebook's outputs carry texts of collections, systems and run files, and the file itself may have
been changed by anybody. `show` escapes what it shows; here whatever HTML comes is cut down to an
allow-list, last of all steps, so that no step can bring anything back.
"""

import base64
import io
import re
import warnings
from functools import cache
from html import unescape
from pathlib import Path

import nbformat
import nh3
from nbconvert import HTMLExporter
from PIL import Image
from traitlets.config import Config

from kit.errors import NotebookError

SHOWN = ["text/html", "image/png", "text/plain"]  # what a page can show, best first
MOST_PIXELS = 20_000_000  # of one picture
COLOURS_OF_A_PICTURE = 96

# the colours that `show` writes, as the page's own, which have a dark form
_COLOURS = {"#ccd3da": "var(--line)", "#5b6770": "var(--soft)", "#d9822b": "var(--warn)",
            "#fff6ea": "var(--warn-tint)", "#333b43": "var(--ink)"}
_PROPERTIES = {"text-align", "font-weight", "font-style", "font-size", "line-height", "white-space",
               "display", "grid-template-columns", "gap", "margin", "padding", "border",
               "border-left", "border-radius", "max-width", "min-width", "color", "background"}
_VALUE = re.compile(r"(?:[\w\s.,%]|var\(--[a-z-]+\)|repeat\(|minmax\(|\)|(?<=o)-(?=f))+")
_TAGS = {"div", "p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "caption", "thead",
         "tbody", "tr", "th", "td", "img", "a", "b", "strong", "i", "em", "mark", "small", "sup", "sub",
         "code", "pre", "span", "br", "hr", "details", "summary", "blockquote", "figure", "figcaption",
         "del", "ins"}
_ATTRIBUTES = {"*": {"class", "style"}, "a": {"href"}, "img": {"src", "alt"}, "h2": {"id"},
               "div": {"role", "tabindex", "aria-label"}, "pre": {"tabindex"}, "ol": {"start"},
               "th": {"scope", "colspan", "rowspan"}, "td": {"colspan", "rowspan"}}
_ATTRIBUTE_FORMS = {  # what a value must be for its attribute to stay
    "class": re.compile(r"kit-[a-z-]+|scroll"), "id": re.compile(r"part-\d+"),
    "href": re.compile(r"(?:https?:|#).*", re.DOTALL), "src": re.compile(r"data:image/png;base64,[\w+/=\s]*"),
    "role": re.compile("region"), "tabindex": re.compile("0"), "scope": re.compile("col|row"),
    "start": re.compile(r"\d+"), "colspan": re.compile(r"\d{1,3}"), "rowspan": re.compile(r"\d{1,3}")}


def read(path: Path) -> nbformat.NotebookNode:
    """An executed notebook. Raises NotebookError for what is none."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # what is no notebook fails in many ways
        raise NotebookError(f"the executed notebook can't be read: {type(error).__name__}", path,
                            "Delete it, or run the experiment again") from error


def heading(notebook: nbformat.NotebookNode, path: Path) -> str:
    """The notebook's first heading: the name of its page."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ").strip()
    raise NotebookError("the notebook has no heading", path, "Begin it with '# Title'")


def parameters(notebook: nbformat.NotebookNode) -> dict:
    """The parameters that papermill noted in the notebook; empty where it was run otherwise."""
    noted = notebook.metadata.get("papermill", {}).get("parameters", {})
    return dict(noted) if isinstance(noted, dict) else {}


def body(notebook: nbformat.NotebookNode) -> str:
    """The notebook below its heading as safe HTML. Its own cells and outputs are not changed."""
    shown = nbformat.from_dict({**notebook, "cells": [_for_readers(cell) for cell in notebook.cells
                                if "site-hide" not in cell.metadata.get("tags", [])]})
    html, _ = _exporter().from_notebook_node(shown)
    return sanitised(_with_landmarks(html))


def parts(html: str) -> list[tuple[str, str]]:
    """(id, text) of each second-level heading of a body."""
    return [(name, unescape(re.sub("<[^>]*>", "", text)))
            for name, text in re.findall(r'<h2 id="(part-\d+)"[^>]*>(.*?)</h2>', html, re.DOTALL)]


def sanitised(html: str) -> str:
    """HTML with the listed tags and attributes alone: no script, handler, form, frame, style sheet or
    address that loads, pictures only as PNG that the page carries itself."""
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, attribute_filter=_attribute,
                     clean_content_tags={"script", "style", "title", "textarea", "noscript"},
                     url_schemes={"http", "https", "data"})


def _attribute(tag: str, name: str, value: str) -> str | None:
    """An attribute's value, or None for one that is left out."""
    if name == "style":
        return _style(value) or None
    if name == "class":
        return " ".join(filter(_ATTRIBUTE_FORMS["class"].fullmatch, value.split())) or None
    form = _ATTRIBUTE_FORMS.get(name)
    return value if form is None or form.fullmatch(value) else None


def _style(text: str) -> str:
    """Declarations of the listed properties; colours only as the page's own, which have a dark form."""
    kept = []
    for declaration in text.split(";"):
        name, _, value = (part.strip().lower() for part in declaration.partition(":"))
        for ours, theirs in _COLOURS.items():
            value = value.replace(ours, theirs)
        coloured = name not in ("color", "background") or value in _COLOURS.values()
        if name in _PROPERTIES and coloured and _VALUE.fullmatch(value):
            kept.append(f"{name}:{value}")
    return ";".join(kept)


@cache  # its template takes a second to read
def _exporter() -> HTMLExporter:
    """Notebooks as bare HTML: no code, no prompts, no widgets, no scripts of an output."""
    return HTMLExporter(template_name="basic", exclude_input=True, exclude_input_prompt=True,
                        exclude_output_prompt=True, exclude_anchor_links=True,
                        config=Config({"NbConvertBase": {"display_data_priority": SHOWN}}))


def _for_readers(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The cell without the notebook's heading, which the page has, and with small pictures."""
    cell = nbformat.from_dict(dict(cell))
    if cell.cell_type == "markdown" and cell.source.startswith("# "):
        cell.source = cell.source.partition("\n")[2]
    if cell.cell_type == "code":
        cell.outputs = [output for output in map(_showable, cell.outputs) if output]
    return cell


def _showable(output: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    """The output in the best form that a page can show, None where it has none."""
    if "data" not in output:
        return output
    data = {form: output.data[form] for form in SHOWN if form in output.data}
    if "image/png" in data:
        data["image/png"] = _small(data["image/png"])
    return nbformat.from_dict({**output, "data": data}) if all(data.values()) and data else None


def _small(picture: str) -> str | None:
    """A PNG (base64) in fewer colours, which is a third of its size; None for what is none."""
    try:
        raw = base64.b64decode(picture, validate=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # ours is the lower limit
            image = Image.open(io.BytesIO(raw), formats=["PNG"])
        with image:
            if image.width * image.height > MOST_PIXELS:
                return None
            few = image.convert("RGB").quantize(COLOURS_OF_A_PICTURE, dither=Image.Dither.NONE)
    except (ValueError, OSError, SyntaxError, Image.DecompressionBombError):  # what is no picture
        return None
    made = io.BytesIO()
    few.save(made, format="PNG", optimize=True)
    return base64.b64encode(min(made.getvalue(), raw, key=len)).decode("ascii")


def _with_landmarks(html: str) -> str:
    """The HTML with tables that can be reached and scrolled by keyboard, with header cells that say
    what they head, and with places to jump to."""
    numbers = {"table": 0, "h2": 0}

    def counted(name: str) -> int:
        numbers[name] += 1
        return numbers[name]

    html = re.sub(r"<h1\b(.*?)</h1>", r"<h2\1</h2>", html, flags=re.DOTALL)  # the page has its own
    html = re.sub(r"<h2\b[^>]*>", lambda _: f'<h2 id="part-{counted("h2")}">', html)
    html = html.replace("<th></th>", "<td></td>")  # heads nothing
    html = re.sub(r"<thead>.*?</thead>", lambda m: re.sub(r"<th(?![^>]*\bscope=)(?=[\s>])",
                                                          '<th scope="col"', m[0]), html, flags=re.DOTALL)
    html = re.sub(r"<th(?![^>]*\bscope=)(?=[\s>])", '<th scope="row"', html)
    html = re.sub("<caption>(.*?)</caption>", r"<caption><span>\1</span></caption>", html, flags=re.DOTALL)
    html = re.sub(r"<table\b", lambda _: '<div class="scroll" role="region" tabindex="0" aria-label='
                  f'"Table {counted("table")}"><table', html)
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
