"""What each command of `python -m kit` does, by its options (kit.options)."""

import argparse
import json
import math
import sys
from pathlib import Path

from kit.arguments import number
from kit.errors import KitError, MeasureError, ParamsError
from kit.files import find_path, safe_name
from kit.params import load_params, make_params


def run(options) -> None:
    """Parameters through every notebook, to a site."""
    from kit.pipeline import run
    from kit.reporting.score import cards_of, main_table
    from kit.reporting.card_page import headlines

    params = load_params(options.params, options.p)
    page = run(params)
    cards = cards_of(params)
    table = main_table(cards, headlines(params.measures))
    print(f"\n{table.to_string(float_format='{:.3f}'.format, na_rep='—')}\n")
    if cards[0].note:
        print(cards[0].note)
    print(f"Report: {page}")


def score(options) -> None:
    """Prints the figures of one run file."""
    from kit.collection.schema import require_sound
    from kit.collection.sources import open_collection
    from kit.evaluation.evaluate import by_scope, evaluate
    from kit.retrieval.execute import without_own_entries
    from kit.retrieval.external import open_run

    names = [name.strip() for name in options.measures.split(",") if name.strip()]
    if not names:
        raise MeasureError("no measure is named", "--measures", "Give one, such as nDCG@10")
    collection = open_collection(options.collection)
    require_sound(collection)  # first: else the run is blamed for what the collection lacks
    run, seen = open_run(options.run, collection)
    run, own = without_own_entries(run, collection)
    evaluation = evaluate(run, collection, options.protocol, names)
    figures = {}
    for name in names:
        values = evaluation.values[name]
        mean = evaluation.mean(name)
        left_out = 0 if values.isna().all() else int(values.isna().sum())
        figures[name] = {"mean": None if math.isnan(mean) else mean, "n": len(values) - left_out,
                         "per_query": None if values.isna().all() else values.dropna().to_dict()}
    result = {"queries": len(evaluation.values), "missing": evaluation.hits.missing,
              "without_positives": evaluation.without_positives, "own_entries": own}
    if options.json:
        print(json.dumps({**result, "measures": figures}, ensure_ascii=False, allow_nan=False))
        for what, count in seen.items():
            if count:
                print(f"kit: {what.replace('_', ' ')}: {count}", file=sys.stderr)
        return
    result |= {**seen, "protocol": options.protocol}
    for key, value in result.items():
        print(f"{key:20} {value}")
    for scope, mine in by_scope({"run": evaluation}).items():
        for name in names:
            label = name if scope == "all" else f"{name}, {scope}"
            print(f"{label:20} {mine['run'].mean(name):.4f}")


def audit(options) -> None:
    """Prints what is odd about a collection, and writes the rows behind it where that is asked for."""
    from kit.collection.sources import open_collection
    from kit.relevance.audit import as_records, audit, export_rows

    # a folder's texts are read from its own files: a copy to map into memory would be as large
    local = find_path(options.collection).is_dir()
    findings = audit(open_collection(options.collection, streaming=local), near=not options.quick)
    if options.rows:
        export_rows(findings, options.rows)
    if options.json:
        print(json.dumps(as_records(findings), ensure_ascii=False, allow_nan=False, indent=2))
        return
    _print_checks(findings)


def _print_checks(findings) -> None:
    """The checks by group, then what is at fault, with its first rows."""
    from kit.relevance.audit import summary

    group = None
    for f in findings:
        if f.group != group:
            group = f.group
            print(f"\n{group}")
        share = "" if f.share is None else f"{f.share:.1%}"
        known = "" if f.expected is None else f"expected {f.expected:,}"
        count = "—" if f.found.absent else f"{f.count:,}"
        said = f.found.absent or known
        print(f"  {f.name:48} {count:>10} {share:>7}  {f.verdict:15} {said}".rstrip())
    for f in findings:
        if f.verdict in ("fault", "not as expected"):
            rows = f.found.rows if f.found.rows is not None else []
            print(f"\n{f.name}: {f.sentence}")
            for row in rows[:3].to_dict("records") if len(rows) else ():
                print("  " + ", ".join(f"{name} {value!r}" for name, value in row.items()))
    print(f"\n{summary(findings)}")


def splits(options) -> None:
    """Makes splits that leak nothing, or says what leaks in splits made elsewhere."""
    from kit.collection.schema import require_sound
    from kit.collection.sources import open_collection
    from kit.relevance.splits import (
        SHARES,
        TIES,
        find_ties,
        leakage,
        make_date_splits,
        make_splits,
        read_splits,
        require_askable,
    )

    _refuse_idle(options)
    ignored = options.ignore or []
    unknown = [kind for kind in ignored if kind not in TIES]
    if unknown:
        raise ParamsError(f"unknown tie '{unknown[0]}'", "--ignore", f"Give of {', '.join(TIES)}")
    given = read_splits(options.check) if options.check else None
    shares = _shares(options.shares) if options.shares is not None else SHARES
    if given is None:
        require_askable(shares, options.seed or 0, options.out)
    collection = open_collection(options.collection)
    require_sound(collection)
    # near-equal texts are compared only if they matter; the other ties are told all the same
    found = find_ties(collection, [k for k in TIES if k != "near-equal text" or k not in ignored])
    if given is not None:
        print(leakage(collection, given, found).to_string(index=False))
        return
    kept = [kind for kind in TIES if kind not in ignored]
    made = make_date_splits(collection, shares) if options.by_date else make_splits(
        collection, shares, options.seed or 0, kept, found)
    made.write(options.out)
    print(made.sizes.to_string(index=False, float_format="{:.3f}".format))
    if options.by_date:
        for split, days in made.table.groupby("split", sort=False)["component"]:
            print(f"{split}: {days.min()} to {days.max()}")
    print("".join(f"{note}.\n" for note in made.notes))
    print(leakage(collection, made, found).to_string(index=False))
    print(f"\nWritten: {options.out}")


def _refuse_idle(options) -> None:
    """Raises ParamsError for an option that would change nothing."""
    set_ = {"--by-date": options.by_date, "--shares": options.shares is not None,
            "--ignore": bool(options.ignore), "--seed": options.seed is not None}
    idle = ["--by-date", "--shares", "--ignore", "--seed"] if options.check else (
        ["--ignore", "--seed"] if options.by_date else [])
    wrong = next((name for name in idle if set_[name]), None)
    if wrong:
        raise ParamsError(f"{wrong} changes nothing beside {'--check' if options.check else '--by-date'}",
                          wrong, "Leave it out")


def _shares(text: str) -> dict[str, float]:
    """{split: share} of "train=0.8,dev=0.1"."""
    try:
        parts = [part.split("=") for part in text.split(",")]
        shares = {name.strip(): number(share.strip()) for name, share in parts}
        if len(shares) < len(parts):
            raise ValueError("a name stands twice")
        return shares
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ParamsError(f"shares are names and numbers, not {text[:80]!r}", "--shares",
                          "Give such as train=0.8,dev=0.1,test=0.1") from error


def serve(options) -> None:
    """BM25 over a collection as an HTTP service, until it is stopped."""
    from kit.collection.sources import open_collection
    from kit.retrieval.serve import serve

    serve(open_collection(options.collection), options.view, options.host, options.port)


def fuse(options) -> None:
    """Fuses saved runs, without a search."""
    from kit.retrieval.execute import fuse_runs, open_finished
    from kit.retrieval.fusion import Fusion

    if options.k is not None and options.method != "rrf":
        raise ParamsError(f"--k changes nothing beside --method {options.method}", "--k",
                          "Leave it out")
    weights = None if options.weights is None else _weights(options.weights)
    params = make_params({"outputs": options.outputs, "fusion_method": options.method,
                          **({} if options.k is None else {"fusion_k": options.k}),
                          "fusion_weights": weights}, "--method, --k, --weights")
    made = Fusion(params.fusion_method, params.fusion_k, weights and tuple(weights.values()))
    runs = [open_finished(find_path(str(folder)), params) for folder in options.runs]
    print(fuse_runs(runs, made, params).folder)


def rerank(options) -> None:
    """A second stage over a saved run."""
    from kit.collection.sources import open_collection
    from kit.retrieval.execute import open_finished, rerank_run
    from kit.retrieval.rerank import asked_of

    run = open_finished(find_path(str(options.run)), make_params({"outputs": options.outputs}, "--outputs"))
    given = [("outputs", options.outputs), ("rerank_with", options.reranker)]
    given += [] if options.depth is None else [("rerank_depth", str(options.depth))]
    params = asked_of(run, load_params(None, [*options.p, *given]), {name for name, _ in options.p})
    collection = open_collection(options.collection, revision=params.revision)
    made = rerank_run(collection, run, params)
    print(made.folder)
    failed = made.manifest["failures"]
    if failed:
        first = f"{failed[0]['query_id']}: {failed[0]['fault']}"
        print(f"{len(failed)} of {made.manifest['queries']} queries failed, so that the run is INCOMPLETE; "
              f"the first is {first}", file=sys.stderr)


def sweep(options) -> None:
    """Passages of several lengths, with several aggregations of each."""
    from kit.collection.sources import open_collection
    from kit.reporting.sweep import (
        SECOND_FORMATS,
        best_table,
        command,
        export,
        few_to_tune,
        seconds_of,
        sweep,
    )

    # under the collection's name, so that one sweep is not written over another's
    named = ("experiment", safe_name(Path(options.collection).name, "sweep"))
    params = load_params(None, [named, *options.p, ("collection", options.collection)])

    def told(name: str, length: int, cell) -> None:
        seconds = ", ".join(f"{part.removesuffix(' s')} {value:.1f} s"
                            for part, value in seconds_of(cell).items())
        print(f"{name} {f'{length} tokens' if length else 'whole documents'}: {seconds}", flush=True)

    # as in the audit: less memory, and faster than a copy to map
    streaming = params.streaming or find_path(params.collection).is_dir()
    swept = sweep(open_collection(params.collection, revision=params.revision,
                                  streaming=streaming), params, told)
    print(f"\nChosen by {swept.measure} on {len(swept.parts.tuning)} queries, reported on "
          f"{len(swept.parts.reporting)} others; queries are the view {params.query_view}, documents "
          f"{params.corpus_view}; IN and OUT are scopes:")
    print(best_table(swept).drop(columns=SECOND_FORMATS).to_string(index=False, na_rep="—"))
    print("".join(f"{note}.\n" for note in [*swept.parts.notes, *few_to_tune(swept)]), end="")
    note = swept.collection.entry.note if swept.collection.entry else ""
    print("A sweep explores and makes no scorecard. To quote a best setting, run it:")
    print("".join(f"  {command(swept, name)}\n" for name in swept.systems) + (f"{note}\n" if note else ""))
    print(f"The whole grid: {export(swept)[0]}")


def _weights(text: str) -> dict[str, float]:
    """{the number of a run: its weight}"""
    try:
        return {str(n): number(weight.strip()) for n, weight in enumerate(text.split(","), 1)}
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ParamsError(f"weights are numbers, not {text[:80]!r}", "--weights",
                          "Give such as 0.3,0.7") from error


def pin(options) -> None:
    """Registers a collection as it is as a generation."""
    from kit.collection.sources import open_collection
    from kit.reporting import pin

    collection = open_collection(options.collection, revision=options.revision)
    name = pin.generation_name(collection, options.name)
    last = pin.last_generation(collection)
    print(f"{collection.environment}: against {last}" if last else
          f"{collection.environment}: nothing was pinned before")
    shown = pin.differences(collection)
    print(shown.astype(object).where(shown.notna(), "—").to_string(index=False))
    if options.yes:
        print(f"Pinned as '{name}' in {pin.pin(collection, name)}")
    else:
        print(f"Nothing is written; --yes pins this as '{name}'")


def build_semantic_search(options) -> None:
    """Builds a set of titles and abstracts."""
    from kit.building import semantic_search
    from kit.building.query_set import open_source, require_free, write_query_set

    require_free(options.out)
    source = open_source(options.collection, options.revision)
    _print_built(write_query_set(semantic_search.build(source, options.protocol), options.out))


def build_litigation(options) -> None:
    """Builds a set of what the Board's papers assert."""
    from kit.building import litigation
    from kit.building.judging import Audit
    from kit.building.query_set import open_source, require_free, write_query_set

    require_free(options.out)
    source = open_source(options.collection, options.revision)
    audit = Audit(litigation.QUESTIONS, what="golds", items=options.audit_items, seed=options.seed,
                  threshold=options.audit_threshold)
    made = litigation.build(source, options.papers, options.table, options.view, audit)
    _print_built(write_query_set(made, options.out))


def build_natural_language(options) -> None:
    """Builds a set of paraphrased claims, once its cost is confirmed."""
    from kit.building import natural_language as made
    from kit.building import paraphrase
    from kit.building.chat import Endpoint
    from kit.building.journal import opened
    from kit.building.judging import Audit
    from kit.building.odd import Limits
    from kit.building.query_set import open_source, require_free, write_query_set

    _require_positive(options)
    require_free(options.out)
    asking = paraphrase.Asking(options.model, paraphrase.read_prompt(options.prompt), options.max_tokens)
    audit = Audit(made.QUESTIONS, items=options.audit_items, seed=options.seed,
                  threshold=options.audit_threshold)
    endpoint = options.base and Endpoint(options.base, options.key_env, options.timeout, options.parallel,
                                         options.retries)
    source = open_source(options.collection, options.revision)
    prepared = made.prepare(source, asking, options.protocol, options.limit, options.seed)
    with opened(made.journal_of(options.out)) as journal:
        for problem in paraphrase.read_batch(options.batch_in, prepared.requests, journal):
            print(f"{problem.file}, line {problem.line}, {problem.id or 'no id'}: {problem.what}")
        left = paraphrase.unanswered(prepared.requests, journal)
        if options.batch_out:
            n = paraphrase.write_batch(prepared.requests, journal, options.batch_out)
            print(f"{n:,} requests written: {options.batch_out}; give the answers by --batch-in")
            return
        if left and endpoint:
            print(paraphrase.estimate(prepared.requests, journal, options.price_in, options.price_out,
                                      options.parallel))
            if not options.yes:
                print("Nothing was sent; --yes sends them")
                return
            paraphrase.ask_all(prepared.requests, endpoint, journal)
        built = made.build(source, prepared, journal, audit, Limits(copy=options.copy_limit),
                           endpoint.url if endpoint else "batch files", options.accept_missing)
    _print_built(write_query_set(built, options.out))


def _require_positive(options) -> None:
    """Raises ParamsError for a number that can't be one of its kind."""
    least = {"max_tokens": 1, "parallel": 1, "retries": 0, "limit": 1, "seed": 0, "price_in": 0, "price_out": 0,
             "timeout": 0.001, "copy_limit": 0}
    most = {"copy_limit": 1, "max_tokens": 10**6, "parallel": 1000, "retries": 20, "timeout": 3600}
    for name, value in ((n, getattr(options, n)) for n in least):
        if value is not None and not (least[name] <= value <= most.get(name, value) and value < float("inf")):
            flag, upto = "--" + name.replace("_", "-"), f" to {most[name]}" if name in most else ""
            raise ParamsError(f"{flag} {value} is no such number", flag, f"Give one from {least[name]}{upto}")
    if (options.price_in is None) != (options.price_out is None):
        raise ParamsError("one price is given, of two", "--price-in, --price-out", "Give both, or neither")


def _print_built(folder: Path) -> None:
    """What came in, what left, and what is to be done next."""
    from kit.building.judging import notebook_of
    from kit.collection.built import read_manifest

    manifest = read_manifest(folder)
    for count in manifest["counts"]:
        print(f"{count['what']}: {count['entered']:,} came in, {count['left']:,} left")
        for reason, n in count["losses"].items():
            print(f"  {n:,} lost: {reason}")
    for file, why in list(manifest["notes"].get("odd_files", {}).items())[:5]:
        print(f"  nothing was read of {file}: {why}")
    print(f"Built: {folder}")
    audit = manifest["audit"]
    print(f"Judge its audit in {notebook_of(audit['what'])}, then" if audit else "Next:",
          f"python -m kit freeze {folder}")


def freeze(options) -> None:
    """Freezes and registers a built set."""
    from kit.building.query_set import freeze

    frozen = freeze(options.folder, options.name)
    audit = frozen["audit"]
    if audit:
        print("Audit: {good} of {judged} are good [{low:.3f}, {high:.3f}], at least {threshold:g} asked"
              .format(**audit))
    print(f"Frozen and registered as '{frozen['generation']}' of the mode {frozen['mode']}")


def models(options) -> None:
    """Prints the models that the kit knows as published."""
    from kit.retrieval.models import entries, overview

    if options.json:
        listed = {name: entry.model_dump(exclude={"name"}) for name, entry in entries().items()}
        print(json.dumps(listed, ensure_ascii=False, allow_nan=False, indent=2))
        return
    print(overview().to_string(index=False))
    print("\n~ second hand   ? unverified   — stated by nobody\n"
          "--json says where each fact is from; 'verify NAME [FOLDER]' holds it against the files")


def verify_model(options) -> int:
    """Holds a model to what is published of it; the status is 1 where it differs."""
    from kit.retrieval.models import compare, locate_folder, require_entry, shown
    from kit.retrieval.model_folder import read_folder

    entry = require_entry(options.name, "kit models verify")
    folder = locate_folder(entry, options.folder)
    checks = compare(entry, read_folder(folder))
    print(f"{entry.name}: {entry.repository} at {entry.commit.value or 'no commit that was seen'}")
    for check in checks:
        beside = "" if check.verdict != "differs" else f", the folder states {shown(check.found)}"
        print(f"  {check.verdict:9} {check.fact:14} {shown(check.listed)}{beside}  [{check.source}]")
    differing = [check.fact for check in checks if check.verdict == "differs"]
    print(f"differs in {', '.join(differing)}" if differing else
          f"holds: {sum(c.verdict == 'agrees' for c in checks)} facts agree, the folder does not "
          "state the others")
    if entry.note:
        print(f"note: {entry.note}")
    return int(bool(differing))


def compare(options) -> None:
    """Prints a comparison of scorecards, of systems or of modes."""
    from kit.collection.sources import open_collection
    from kit.reporting import card_comparison

    if options.modes:
        print(card_comparison.modes_markdown(options.scorecards, options.outputs))
        return
    given = options.collection and open_collection(options.collection, revision=options.revision)
    compared = card_comparison.compare(options.scorecards, given, options.outputs)
    if options.out is None:
        print(card_comparison.markdown(compared))
    else:
        print(f"Comparison: {card_comparison.write(compared, options.out)}")


def publish(options) -> None:
    """Builds the site anew, or one report in other formats."""
    from kit.reporting import formats, site

    if options.report is None and options.format is None and options.out is None:
        print(f"Report: {site.build(options.outputs)}")
        return
    if options.report is None or options.format is None:
        raise ParamsError("one report in a format needs both", "REPORT, --format",
                          "Give such as: publish mini --format html; without any, the site is built")
    names = [name.strip() for name in options.format.split(",") if name.strip()]
    for path in formats.publish(options.report, names, options.out, options.outputs):
        print(path)


def verify(options) -> int:
    """Recomputes scorecards; the status is 1 where anything differs."""
    from kit.collection.sources import open_collection
    from kit.reporting.verify import verify

    given = options.collection and open_collection(options.collection, revision=options.revision)
    holds = True
    for path in options.scorecards:
        try:
            verdict = verify(path, given, options.outputs)
        except KitError as error:  # the others are looked at all the same
            print(f"{path.name}: can't be verified\n  {error}")
            holds = False
            continue
        holds = holds and not verdict.differences
        if verdict.differences:
            print(f"{verdict.path.name}: does not hold")
        else:
            print(f"{verdict.path.name}: holds; {verdict.figures} figures recomputed")
        for line in [*verdict.differences, *(f"note: {note}" for note in verdict.notes)]:
            print(f"  {line}")
    return int(not holds)
