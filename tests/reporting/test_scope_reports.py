"""No report shows all queries, or the scope IN, without the scope OUT."""

import re

import pytest

from kit.evaluation.evaluate import by_scope, evaluate, scope_pairs, scopes_shown
from kit.reporting import comparison, score, show, site
from kit.reporting.card_comparison import compare, markdown
from kit.reporting.scorecard import read_scorecard, scope_sentence

MEASURES = ["nDCG@2", "RR"]


@pytest.fixture
def scored(bench):
    """The bench's collection, two runs on it and their cards, listed as an experiment."""
    params = bench.params(measures=MEASURES, experiment="tried")
    collection, runs = bench.open(), [bench.run(name) for name in ("bm25", "public")]
    figures = score.figures_of_runs(collection, runs, params)
    return collection, runs, figures, params, score.write_scorecards(collection, runs, figures, params)


def tables(text: str) -> list[str]:
    """The tables of figures of a page or a sheet; those without heads hold facts."""
    text = re.sub(r"Smallest difference.*?\n\n(\|.*\n)+", "", text)  # these are no figures
    return re.findall("<table.*?</table>", text, re.DOTALL) + [
        table for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE) if not table.startswith("|  |")]


def test_every_table_with_all_queries_or_in_has_out(bench, scored):
    collection, runs, figures, params, paths = scored
    site.build(str(bench.outputs))
    pages = [p.read_text(encoding="utf-8") for p in (bench.outputs / "site").rglob("*.html")]
    sheets = [p.with_suffix(".md").read_text(encoding="utf-8") for p in paths]
    shown = [*pages, *sheets, markdown(compare(paths)), score.protocol_table(figures).to_html(),
             score.main_table(list(map(read_scorecard, paths)), MEASURES).reset_index().to_html()]
    found = [t for text in shown for t in tables(text)
             if re.search(r"\ball\b.{0,12}n=|scope IN|>all<|, all", t)]
    assert len(found) > 8 and all("scope OUT" in table for table in found)


def test_every_picture_and_test_over_all_queries_comes_again_over_out(scored, monkeypatch):
    collection, runs, _, params, paths = scored
    evaluations, said = score.evaluate_runs(collection, runs, params), []
    monkeypatch.setattr(show, "picture", lambda figure, alt: said.append(alt))
    monkeypatch.setattr(show, "heading", said.append)
    monkeypatch.setattr(show, "display", lambda table: None)
    for do, *arguments in ((score.show_recall,), (comparison.show_side_by_side, 0),
                           (comparison.show_found, 2), (comparison.show_differences, "RR")):
        said.clear()
        do(evaluations, *arguments)
        assert ["scope OUT" in text for text in said] == [False, True], do
    sheet = markdown(compare(paths))
    assert "## Differences\n" in sheet and "## Differences, scope OUT\n" in sheet


def test_the_picture_of_scopes_says_what_falls_and_how_many_pairs_there_are(scored, monkeypatch):
    collection, _, figures, params, _ = scored
    drawn, said = [], []
    monkeypatch.setattr(show, "picture", lambda figure, alt: drawn.append(figure))
    monkeypatch.setattr(show, "say", said.append)
    score.show_scopes(collection, figures, params)
    assert "by scope: bm25" in drawn[0].get_suptitle() and "OUT; public" in drawn[0].get_suptitle()
    assert said == ["4 relevant pairs are IN and 1 OUT, by their three-character classes; 0 belong to "
                    "neither, for want of a class."]


def test_a_collection_without_classes_shows_all_queries_alone_and_says_why(bench, monkeypatch):
    bare = bench.folder("bare", queries=[{"query_id": f"q{n}", "ipc": None} for n in (1, 2, 3, 4)])
    collection, run = bench.open(bare), bench.run("bm25", bare)
    params, said = bench.params(measures=["RR"]), []
    figures = score.figures_of_runs(collection, [run], params)
    monkeypatch.setattr(show, "say", said.append)
    score.show_scopes(collection, figures, params)
    assert said == ["This collection has no scopes: no relevant pair has three-character classes on "
                    "both sides."]
    assert scope_pairs(collection) is None and scopes_shown(figures["bm25"], "all") == ["all"]
    assert list(by_scope({"bm25": evaluate(run.table, collection, "all", ["RR"])})) == ["all"]
    assert read_scorecard(bench.card("bm25", bare)).scopes is None


def test_the_sheet_says_how_far_the_classes_agree(scored):
    *_, paths = scored
    card = read_scorecard(paths[0])
    assert set(card.scopes) == {"all", "xy", "a"}
    assert f"- scopes: {scope_sentence(card.scopes['xy'])}\n" in paths[0].with_suffix(".md").read_text(
        encoding="utf-8")
    stated = {"from": "domain_rel", "IN": 99, "OUT": 68, "UNKNOWN": 0, "otherwise": 2, "untold": 4}
    assert scope_sentence(stated) == (
        "99 relevant pairs are IN and 68 OUT, as domain_rel states them; recomputed from the "
        "three-character classes 2 are otherwise, and 4 can't be told")


def test_a_sample_counts_the_pairs_of_its_own_queries(bench):
    card = read_scorecard(bench.card(sample=2))
    pairs = next(f for f in card.figures if f.measure == "RR" and f.slice == "all")
    assert pairs.n == 2 and sum(card.scopes["all"][d] for d in ("IN", "OUT", "UNKNOWN")) < 5
