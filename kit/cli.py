"""`python -m kit`: the commands. An error is one line on stderr and the exit status 1."""

import argparse
import json
import math
import re
import signal
import sys
import threading
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from kit.errors import KitError, MeasureError, ParamsError, memory_ran_out
from kit.files import find_path, safe_name
from kit.params import load_params, make_params
from kit.visible import Screen


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status. What it prints is made visible: no text of a
    collection or run file acts on a terminal."""
    with redirect_stdout(Screen(sys.stdout)), redirect_stderr(Screen(sys.stderr)), _stoppable():
        return _main(arguments)


class Terminated(KeyboardInterrupt):
    """SIGTERM came: what ends well on Ctrl-C ends as well on it."""


@contextmanager
def _stoppable():
    def stop(*_):
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # which alone may ask for signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _main(arguments: list[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
        status = options.command(options)
        sys.stdout.flush()  # here a reader that has gone is still noticed
        return status or 0
    except KitError as error:
        print(f"kit: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        return 1
    except Exception as error:
        if (known := _of_the_machine(error)) is None:
            raise
        print(f"kit: {known}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print("kit: stopped; the same command goes on from here", file=sys.stderr)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def _of_the_machine(error: Exception) -> KitError | None:
    """What the kit says where memory runs out, a disk is full, or a folder can't be written."""
    if memory_ran_out(type(error).__name__, str(error)):
        return KitError("the memory ran out", str(error)[:200] or "no size named",
                        "Close other programs, or take a machine with more; the same command goes on from here")
    if isinstance(error, OSError):
        return KitError(error.strerror or str(error), error.filename2 or error.filename or "no file named",
                        "Check the folder's space and permissions")
    return None


class _Parser(argparse.ArgumentParser):
    """argparse, with its errors in the kit's form."""

    def error(self, message: str):
        raise KitError(message, self.prog, f"'{self.prog} --help' shows what can be given")


# --- what a command may be given ------------------------------------------------------------------

def _said(text: str) -> str:
    """A text that says something: an empty one comes of a variable that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _path(text: str) -> Path:
    return Path(_said(text))


def _whole(text: str) -> int:
    return int(_in_digits(text, r"[-+]?[0-9]{1,100}", "whole number"))


def _number(text: str) -> float:
    return float(_in_digits(text, r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", "number"))


def _in_digits(text: str, form: str, kind: str) -> str:
    """A number as parameters are read too: Python takes 1_0 and figures of other scripts besides."""
    if not re.fullmatch(form, text):
        raise argparse.ArgumentTypeError(f"it is no {kind}: {text[:80]!r}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m kit", description=(
        "Measures how well a search system finds the prior art of a patent."))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="parameters through every notebook, to a site")
    run.add_argument("params", nargs="?", type=_path, help="a YAML file, such as params/mini.yaml")
    run.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                     help="one parameter, which has the last word over the file")
    run.set_defaults(command=_run)

    score = commands.add_parser("score", help="the figures of one run file")
    score.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    score.add_argument("--run", required=True, type=_path, help="a TREC or Parquet run")
    score.add_argument("--protocol", default="all", help="all, xy or a (default: all)")
    score.add_argument("--measures", default="nDCG@10,R@100", help="names, with commas between")
    score.add_argument("--json", action="store_true", help="everything, a value a query included")
    score.set_defaults(command=_score)

    audit = commands.add_parser("audit", help="what is odd about a collection")
    audit.add_argument("collection", help="a name, a hub id or a folder")
    audit.add_argument("--json", action="store_true", help="as JSON, with each check's breakdown")
    audit.add_argument("--rows", type=_path, metavar="FOLDER",
                       help="write the rows behind each count, a Parquet file a check")
    audit.add_argument("--quick", action="store_true",
                       help="leave out near-equal texts, for which every word is read")
    audit.set_defaults(command=_audit)

    splits = commands.add_parser("splits", help="train, dev and test that leak nothing, or what leaks")
    splits.add_argument("collection", help="a name, a hub id or a folder")
    how = splits.add_mutually_exclusive_group(required=True)
    how.add_argument("--out", type=_path, metavar="FILE", help="make splits and write them (.parquet)")
    how.add_argument("--check", type=_path, metavar="FILE",
                     help="say what leaks in splits made elsewhere (.parquet, .csv or .tsv)")
    splits.add_argument("--by-date", action="store_true", help="the oldest queries to train")
    splits.add_argument("--shares", metavar="NAME=SHARE,…",
                        help="names and shares (default: train=0.8,dev=0.1,test=0.1)")
    splits.add_argument("--ignore", action="append", metavar="TIE", help="a tie that may cross: "
                        "reciprocal, publication, number, 'equal text' or 'near-equal text'")
    splits.add_argument("--seed", type=_whole, help="orders what is alike (default: 0)")
    splits.set_defaults(command=_splits)
    serve = commands.add_parser("serve", help="BM25 over a collection as an HTTP service")
    serve.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    serve.add_argument("--view", default="tacd", help="what it sees of a document (default: tacd)")
    serve.add_argument("--host", type=_said, default="127.0.0.1", help="the address to listen on")
    serve.add_argument("--port", type=_whole, default=0, help="0, the default, takes a free one")
    serve.set_defaults(command=_serve)

    fuse = commands.add_parser("fuse", help="saved runs as one, without a search")
    fuse.add_argument("runs", nargs="+", type=_path, metavar="RUN_FOLDER",
                      help="a folder below outputs/runs")
    fuse.add_argument("--method", default="rrf", help="rrf, minmax or zscore (default: rrf)")
    fuse.add_argument("--k", type=_whole, help="K of rrf (default: 60)")
    fuse.add_argument("--weights", metavar="WEIGHT,…",
                      help="of minmax and zscore, in the order of the runs (default: 1 each)")
    fuse.add_argument("--outputs", type=_said, default="outputs",
                      help="folder for the fused run, best that of the runs (default: outputs)")
    fuse.set_defaults(command=_fuse)

    rerank = commands.add_parser("rerank", help="a second stage over a saved run")
    rerank.add_argument("run", type=_path, metavar="RUN_FOLDER", help="a folder below outputs/runs")
    rerank.add_argument("--collection", required=True, help="the run's: a name, a hub id or a folder")
    rerank.add_argument("--with", required=True, dest="reranker", metavar="RERANKER", help="a cross-encoder's "
                        "folder or hub id, module:name of an object, or a service's address")
    rerank.add_argument("--depth", type=_whole, help="documents that are reranked (default: all of the run)")
    rerank.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="one parameter, such as -p corpus_view ta (default: the run's own)")
    rerank.add_argument("--outputs", type=_said, default="outputs",
                        help="folder for the new run, best that of the first (default: outputs)")
    rerank.set_defaults(command=_rerank)

    sweep = commands.add_parser("sweep", help="passage lengths and aggregations, and the best of them")
    sweep.add_argument("collection", help="a name, a hub id or a folder")
    sweep.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                       help="one parameter, such as -p systems '[bm25-passages]'")
    sweep.set_defaults(command=_sweep)

    pin = commands.add_parser("pin", help="make a collection as it is a generation")
    pin.add_argument("collection", help="a name, a hub id or a folder")
    pin.add_argument("--revision", type=_said, help="commit or tag of a hub data set")
    pin.add_argument("--name", type=_said, help="of the generation (default: the environment and a number)")
    pin.add_argument("--yes", action="store_true", help="write it; else only what differs is shown")
    pin.set_defaults(command=_pin)

    _add_build(commands)

    models = commands.add_parser("models", help="public embedding models as published")
    models.add_argument("--json", action="store_true", help="with where each fact is from")
    models.set_defaults(command=_models)
    of_models = models.add_subparsers(metavar="verify")
    held = of_models.add_parser("verify", help="hold an entry against a model's own files")
    held.add_argument("name", help="a name that 'kit models' lists, or a hub id")
    held.add_argument("folder", nargs="?", type=_path,
                      help="the model's folder (default: the package's, or the hub's cached one)")
    held.set_defaults(command=_verify_model)

    compare = commands.add_parser("compare", help="scorecards side by side, or a refusal")
    compare.add_argument("scorecards", nargs="+", type=_path, metavar="SCORECARD")
    compare.add_argument("--collection", help="where the collection is, if not where the cards say")
    compare.add_argument("--revision", type=_said, help="commit or tag of a hub data set")
    compare.add_argument("--outputs", type=_said, help="folder with the runs and the ledger of the scorecards")
    compare.add_argument("--modes", action="store_true",
                         help="one system in several modes: what it gains or loses")
    compare.add_argument("--out", type=_path, metavar="FOLDER",
                         help="write comparison.md and its pictures there; else it is printed")
    compare.set_defaults(command=_compare)

    publish = commands.add_parser("publish", help="the site anew, or one report in other formats")
    publish.add_argument("report", nargs="?", help="an experiment, or the path of an executed notebook or "
                         "a scorecard; with --format")
    publish.add_argument("--format", metavar="NAME,…",
                         help="markdown, html, pdf, csv, latex, parquet or svg, with commas between")
    publish.add_argument("--out", type=_path, metavar="FOLDER",
                         help="where the files go (default: outputs/published/REPORT)")
    publish.add_argument("--outputs", type=_said, default="outputs",
                         help="folder with the scorecards and notebooks (default: outputs)")
    publish.set_defaults(command=_publish)

    verify = commands.add_parser("verify", help="recompute scorecards and name all that differs")
    verify.add_argument("scorecards", nargs="+", type=_path, metavar="SCORECARD")
    verify.add_argument("--collection", help="where the collection is, if not where the card says")
    verify.add_argument("--revision", type=_said, help="commit or tag of a hub data set")
    verify.add_argument("--outputs", type=_said, help="folder with the runs and the ledger of the scorecards")
    verify.set_defaults(command=_verify)
    return parser


def _add_build(commands) -> None:
    """`build MODE` and `freeze`."""
    build = commands.add_parser("build", help="a query set of a mode, to be frozen")
    modes = build.add_subparsers(required=True, metavar="MODE")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    shared.add_argument("--revision", type=_said, help="commit or tag of a hub data set")
    shared.add_argument("--protocol", default="all", help="which pairs are golds (default: all)")
    shared.add_argument("--out", required=True, type=_path, metavar="FOLDER",
                        help="the new set's folder, whose name is its environment's")
    semantic = modes.add_parser("semantic_search", parents=[shared],
                                help="title and abstract as the query")
    semantic.set_defaults(command=_build_semantic_search)

    litigation = modes.add_parser("litigation", help="challenged patents and what is asserted against them")
    litigation.add_argument("--collection", required=True, help="whose corpus is searched: a name, a hub id "
                            "or a folder")
    litigation.add_argument("--revision", type=_said, help="commit or tag of a hub data set")
    litigation.add_argument("--papers", required=True, type=_path, metavar="FOLDER",
                            help="the Board's JSON, of either generation, and texts (.txt)")
    litigation.add_argument("--table", action="append", default=[], type=_path, metavar="FILE",
                            help="TSV, CSV or Parquet: application_id beside patent_id, pgpub_id, family_id or "
                            "doc_id (repeat it)")
    litigation.add_argument("--view", default="claims", help="of the challenged patent (default: claims)")
    litigation.add_argument("--audit-items", type=_whole, default=100, help="golds that people judge (default: 100)")
    litigation.add_argument("--audit-threshold", type=_number, default=0.95, metavar="SHARE",
                            help="share of right golds that freezing asks for (default: 0.95)")
    litigation.add_argument("--seed", type=_whole, default=0, help="draws the golds of the audit (default: 0)")
    litigation.add_argument("--out", required=True, type=_path, metavar="FOLDER", help="the new set's folder")
    litigation.set_defaults(command=_build_litigation)

    natural = modes.add_parser("natural_language", parents=[shared], help="claim 1 in plain words, by a "
                               "language model; without --yes it says what that costs, and stops")
    natural.add_argument("--model", type=_said, required=True, help="the model's name at the endpoint")
    natural.add_argument("--base", type=_said, help="the endpoint's address before /chat/completions")
    natural.add_argument("--key-env", type=_said, metavar="NAME", help="environment variable that holds the key")
    natural.add_argument("--yes", action="store_true", help="send the requests")
    natural.add_argument("--prompt", type=_path, metavar="FILE", help="in place of the kit's own")
    natural.add_argument("--max-tokens", type=_whole, default=600, help="of an answer (default: 600)")
    natural.add_argument("--price-in", type=_number, help="of a million tokens in, for the estimate")
    natural.add_argument("--price-out", type=_number, help="of a million tokens out")
    natural.add_argument("--parallel", type=_whole, default=4, help="requests in flight at most (default: 4)")
    natural.add_argument("--timeout", type=_number, default=120, help="seconds of a request (default: 120)")
    natural.add_argument("--retries", type=_whole, default=5, help="after 429, 5xx and lost connections")
    natural.add_argument("--limit", type=_whole, metavar="N", help="draw N queries (default: all)")
    natural.add_argument("--seed", type=_whole, default=0, help="draws queries and the audit (default: 0)")
    natural.add_argument("--batch-out", type=_path, metavar="FILE",
                         help="write the requests as a batch file, and stop")
    natural.add_argument("--batch-in", type=_path, action="append", default=[], metavar="FILE",
                         help="take answers from a batch's output")
    natural.add_argument("--accept-missing", action="store_true",
                         help="count requests without an answer as lost")
    natural.add_argument("--copy-limit", type=_number, default=0.5, metavar="SHARE", help="an answer of which "
                         "more word sequences stand in the claim is left out (default: 0.5)")
    natural.add_argument("--audit-items", type=_whole, default=100, help="rows that people judge (default: 100)")
    natural.add_argument("--audit-threshold", type=_number, default=0.9, metavar="SHARE",
                         help="share of good rows that freezing asks for (default: 0.9)")
    natural.set_defaults(command=_build_natural_language)

    freeze = commands.add_parser("freeze", help="a built query set becomes a generation of its mode")
    freeze.add_argument("folder", help="a folder that 'build' made")
    freeze.add_argument("--name", type=_said, help="of the generation (default: the folder's name and a number)")
    freeze.set_defaults(command=_freeze)


def _run(options) -> None:
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


def _score(options) -> None:
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


def _audit(options) -> None:
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


def _splits(options) -> None:
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
        shares = {name.strip(): _number(share.strip()) for name, share in parts}
        if len(shares) < len(parts):
            raise ValueError("a name stands twice")
        return shares
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ParamsError(f"shares are names and numbers, not {text[:80]!r}", "--shares",
                          "Give such as train=0.8,dev=0.1,test=0.1") from error


def _serve(options) -> None:
    from kit.collection.sources import open_collection
    from kit.retrieval.serve import serve

    serve(open_collection(options.collection), options.view, options.host, options.port)


def _fuse(options) -> None:
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


def _rerank(options) -> None:
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


def _sweep(options) -> None:
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
        return {str(n): _number(weight.strip()) for n, weight in enumerate(text.split(","), 1)}
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ParamsError(f"weights are numbers, not {text[:80]!r}", "--weights",
                          "Give such as 0.3,0.7") from error


def _pin(options) -> None:
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


def _build_semantic_search(options) -> None:
    from kit.building import semantic_search
    from kit.building.query_set import open_source, require_free, write_query_set

    require_free(options.out)
    source = open_source(options.collection, options.revision)
    _print_built(write_query_set(semantic_search.build(source, options.protocol), options.out))


def _build_litigation(options) -> None:
    from kit.building import litigation
    from kit.building.judging import Audit
    from kit.building.query_set import open_source, require_free, write_query_set

    require_free(options.out)
    source = open_source(options.collection, options.revision)
    audit = Audit(litigation.QUESTIONS, what="golds", items=options.audit_items, seed=options.seed,
                  threshold=options.audit_threshold)
    made = litigation.build(source, options.papers, options.table, options.view, audit)
    _print_built(write_query_set(made, options.out))


def _build_natural_language(options) -> None:
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


def _freeze(options) -> None:
    from kit.building.query_set import freeze

    frozen = freeze(options.folder, options.name)
    audit = frozen["audit"]
    if audit:
        print("Audit: {good} of {judged} are good [{low:.3f}, {high:.3f}], at least {threshold:g} asked"
              .format(**audit))
    print(f"Frozen and registered as '{frozen['generation']}' of the mode {frozen['mode']}")


def _models(options) -> None:
    from kit.retrieval.models import entries, overview

    if options.json:
        listed = {name: entry.model_dump(exclude={"name"}) for name, entry in entries().items()}
        print(json.dumps(listed, ensure_ascii=False, allow_nan=False, indent=2))
        return
    print(overview().to_string(index=False))
    print("\n~ second hand   ? unverified   — stated by nobody\n"
          "--json says where each fact is from; 'verify NAME [FOLDER]' holds it against the files")


def _verify_model(options) -> int:
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


def _compare(options) -> None:
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


def _publish(options) -> None:
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


def _verify(options) -> int:
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
