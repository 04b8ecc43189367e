"""The site in a real browser: the miniature's pages and those of a collection that is an attack.

The attack stands in every text that a user's data can bring: titles, abstracts, ids, the folder's
name, a system's name, version and settings, a run file's name, an experiment's note, and an executed
notebook that somebody forged. Nothing outside the pages' own files may be asked for.
"""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.collection.sources import open_collection
from kit.evaluation import uncertainty
from kit.files import ROOT, dump_json
from kit.params import make_params
from kit.reporting import score, show, site
from kit.retrieval import execute
from kit.retrieval.run import ranked, write_trec
from kit.retrieval.system import Answer

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: neither chromium, "
                                "chromium-browser nor google-chrome is on the PATH")
FAULTS = ("error", "warning")  # of what the console says
MOST_BYTES = 400_000  # of one page
ACTS = "window.acted=1;alert(1)"
PAYLOAD = (f'"><script>{ACTS}</script><img src=x onerror="{ACTS}"><svg onload={ACTS}></svg>'
           f'<a href="javascript:{ACTS}">c</a>[l](javascript:alert(1)) {{{{7*7}}}} \x1b[31m')
FORGED = f"""{PAYLOAD}<iframe srcdoc="<script>parent.acted=1</script>"></iframe><math><mtext></form>
<form><mglyph><style></math><img src onerror={ACTS}></style></mglyph></form><details open ontoggle={ACTS}>
x</details><form action=https://example.org><input autofocus onfocus={ACTS}></form><object data=x></object>
<base href=//e/><meta http-equiv=refresh content="0;url=https://example.org">
<link rel=stylesheet href=//example.org/x.css>
<p style="position:fixed;inset:0;background:url(https://example.org/x.png)">over all</p>
<img alt='"><thead><th onmouseover={ACTS}>' src=https://example.org/x.png><table><td>shown</table>
"""


class Evil:
    """A system whose every word is an attack; it answers each query with the corpus as it is."""

    name = version = PAYLOAD
    given = settings = {PAYLOAD: PAYLOAD}

    def prepare(self, ids, texts):
        self.ids = ids

    def search_batch(self, texts, topk):
        return [Answer(self.ids[:topk], None) for _ in texts]

    def notes(self):
        return {}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory, make_collection) -> Path:
    """An outputs folder with BM25 on the miniature beside the committed notebooks, and the attack."""
    made = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uncertainty, "RESAMPLES", 20)
        carded(open_collection("mini"), made, "mini", systems=["bm25"])
        for notebook in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
            target = made / "notebooks/mini" / notebook.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(notebook, target)
        attack(made, make_collection(tmp_path_factory.mktemp("evil"), *tables(), name=
                                     "'\"><img src=x onerror=alert(1)>"), patch)
    site.build(str(made))
    return made


def tables():
    texts = {"title": f"{PAYLOAD} valve", "abstract": PAYLOAD, "claims": PAYLOAD}
    ids = {"q1": "q1<img/src=x>", "d1": "d1<b>'\"&amp;"}
    return ([{"query_id": ids["q1"], **texts}, "q2"], [{"doc_id": ids["d1"], **texts}, "d2"],
            [(ids["q1"], ids["d1"]), ("q2", "d2", "A")])


def carded(collection, made: Path, experiment: str, **values) -> None:
    """The runs' cards, under the experiment's name."""
    params = make_params({"outputs": str(made), "experiment": experiment, "depth": 10,
                          "measures": ["nDCG@10", "RR"], **values})
    runs = execute.retrieve_all(collection, params)
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)


def attack(made: Path, folder: Path, patch) -> None:
    """Cards and notebooks of the evil collection, and a note that is an attack too."""
    patch.setattr(execute, "make_system", lambda name, params: Evil())
    collection, trec = open_collection(str(folder)), folder.parent / "own.trec"
    write_trec(trec, ranked(["q2"], ["d2"], [1.0]), "own")
    carded(collection, made, "evil", systems=["bm25"], run_files={"<i onclick=alert(1)>": str(trec)})
    listed = made / "reports/experiments/evil.json"
    listed.write_text(dump_json({**json.loads(listed.read_text()), "note": PAYLOAD}))
    first = collection.ids("queries")[0]
    cells = [new_markdown_cell(f"# {PAYLOAD}"), new_markdown_cell(FORGED)]
    shown = [show.query_with_relevants(collection, first), show.facts({PAYLOAD: PAYLOAD}, PAYLOAD)]
    for html in [*(one.data for one in shown), FORGED]:
        cells.append(new_code_cell("", outputs=[new_output("display_data", {"text/html": html})]))
    cells.append(new_code_cell("", outputs=[
        new_output("display_data", {"image/png": '"><script>x'}, metadata={"image/png": {"alt": PAYLOAD}}),
        new_output("display_data", {"application/javascript": ACTS, "image/svg+xml": FORGED}),
        new_output("stream", name="stdout", text=PAYLOAD)]))
    notebook = new_notebook(cells=cells, metadata={"papermill": {"parameters": {PAYLOAD: [PAYLOAD]}}})
    place = made / "notebooks/evil"
    place.mkdir(parents=True)
    nbformat.write(notebook, place / "10_explore.ipynb")


@pytest.fixture(scope="module")
def pages(outputs) -> list[Path]:
    found = sorted((outputs / "site").rglob("*.html"))
    assert len(found) == 3 + 2 + 3 + 9 + 1  # whole site, environments, cards, notebooks of both
    return found


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """A function that opens pages one after another, offline, with what they asked for and said.

    It yields (browser's page, address, what went wrong: console errors, requests that are no file's).
    """
    contexts = []

    def open_all(paths, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        context.set_default_timeout(120_000)  # a machine that is busy is no fault of the pages
        contexts.append(context)
        for path in paths:
            page, wrong = context.new_page(), []
            page.on("console", lambda said: wrong.append(said.text) if said.type in FAULTS else None)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("dialog", lambda dialog: (wrong.append("a dialog"), dialog.dismiss()))
            page.on("request", lambda asked: wrong.append(asked.url[:100]) if not asked.url.startswith(
                ("file:", "data:image/png")) else None)
            page.on("requestfailed", lambda asked: wrong.append(f"failed: {asked.url[:100]}"))
            page.goto(path.as_uri())
            yield page, path, wrong
            page.close()

    yield open_all
    for context in contexts:
        context.close()


def test_every_page_opens_with_the_network_off_and_without_a_word_in_the_console(opened, pages):
    for page, path, wrong in opened(pages):
        assert page.locator("h1").count() == 1 and wrong == [], path


ACTIVE = """() => [...document.querySelectorAll('*')].flatMap(e => [
  ...[...e.attributes].filter(a => a.name.startsWith('on') || /^\\s*(javascript|vbscript):/i.test(a.value)
    || (a.name === 'src' && !a.value.startsWith('data:image/png;base64,'))).map(a => a.name + '=' + a.value),
  ...(/^(script|iframe|object|embed|form|input|base|link|svg|math)$/i.test(e.tagName) ? [e.tagName] : [])])"""


def test_planted_payloads_do_nothing_even_without_the_pages_policy(opened, pages):
    """The escaping and the allow-list hold alone: the content policy is off."""
    for page, path, wrong in opened(pages, bypass_csp=True):
        assert page.evaluate(ACTIVE) == [], path
        assert page.evaluate("window.acted") is None and wrong == [], path


def test_the_payloads_are_shown_as_they_are(opened, pages):
    """Else the test before would prove nothing; a template in a text is not filled either."""
    attacked = [p for p in pages if "onerror=" in p.read_text(encoding="utf-8")]
    assert {p.parent.name for p in attacked} == {"site", "environments", "scorecards", "evil"}
    for page, path, _ in opened(attacked):
        shown = page.inner_text("body")
        assert f"<script>{ACTS}</script>" in shown and "{{7*7}}" in shown, path


def test_the_policy_alone_stops_a_script_that_stands_in_a_page(opened, pages, tmp_path):
    """The second wall, with the first torn down."""
    broken = tmp_path / "broken.html"
    broken.write_text(pages[0].read_text().replace("</main>", f"{PAYLOAD}</main>"))
    for page, _, wrong in opened([broken]):
        assert page.evaluate(ACTIVE) != []
        assert page.evaluate("window.acted") is None and "a dialog" not in wrong


@pytest.mark.parametrize("scheme, rules", [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
def test_axe_finds_no_serious_fault(opened, pages, scheme, rules):
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    if scheme == "dark":  # the other notebooks are of the same styles, and the audit's is long
        pages = [p for p in pages if p.stem[:2] not in ("20", "40", "60", "70") or "scorecards" in p.parts]
    for page, path, _ in opened(pages, bypass_csp=True, color_scheme=scheme):
        page.bring_to_front()  # else it is computed at a low priority
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.evaluate(axe)
        found = page.evaluate("rules => axe.run({resultTypes: ['violations'], ...rules})", rules)
        grave = [(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"]
                 if v["impact"] in ("serious", "critical")]
        assert grave == [], path


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window_and_what_scrolls_can_be_reached_by_keyboard(opened, pages, width):
    hidden = """() => [...document.querySelectorAll('body *')].filter(e => e.scrollWidth > e.clientWidth + 1
      && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0)
      .map(e => e.outerHTML.slice(0, 99))"""
    for page, path, _ in opened(pages, width):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(hidden) == [], path


def test_the_keyboard_reaches_the_content_and_sees_where_it_is(opened, pages):
    for page, path, _ in opened(pages):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip", path
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main", path
        page.keyboard.press("Tab")
        assert page.evaluate("document.querySelector('main').contains(document.activeElement)") or (
            page.locator("main a, main summary, main [tabindex='0']").count() == 0), path


def test_the_navigation_says_which_page_is_open(opened, pages):
    for page, path, _ in opened([p for p in pages if p.parent.name not in ("scorecards", "environments")]):
        assert page.locator("nav [aria-current=page]").count() == 1, path


def test_in_print_the_navigation_is_gone_and_what_is_folded_is_open(opened, pages):
    for page, path, _ in opened([p for p in pages if "scorecards" in p.parts][:1]):
        page.emulate_media(media="print")
        assert not page.locator("nav").first.is_visible()
        assert page.locator("details table").first.bounding_box()["height"] > 50, path


def test_headings_go_down_one_step_at_a_time(opened, pages):
    levels = "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
    for page, path, _ in opened([p for p in pages if "evil" not in p.parts]):
        found = page.evaluate(levels)
        assert found[0] == 1 and all(b - a <= 1 for a, b in zip(found, found[1:])), path


def test_a_page_is_small(pages):
    assert {p.name: p.stat().st_size for p in pages if p.stat().st_size > MOST_BYTES} == {}


def test_built_again_it_is_the_same_bytes(outputs, pages):
    before = {p: p.read_bytes() for p in pages}
    site.build(str(outputs))
    assert {p: p.read_bytes() for p in sorted((outputs / "site").rglob("*.html"))} == before
