"""The commands of `python -m kit` and what each may be given."""

import argparse

from kit import commands as do
from kit.arguments import number, path, said, whole
from kit.errors import KitError


class _Parser(argparse.ArgumentParser):
    """argparse, with its errors in the kit's form."""

    def error(self, message: str):
        raise KitError(message, self.prog, f"'{self.prog} --help' shows what can be given")


def make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m kit", description=(
        "Measures how well a search system finds the prior art of a patent."))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="parameters through every notebook, to a site")
    run.add_argument("params", nargs="?", type=path, help="a YAML file, such as params/mini.yaml")
    run.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                     help="one parameter, which has the last word over the file")
    run.set_defaults(command=do.run)

    score = commands.add_parser("score", help="the figures of one run file")
    score.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    score.add_argument("--run", required=True, type=path, help="a TREC or Parquet run")
    score.add_argument("--protocol", default="all", help="all, xy or a (default: all)")
    score.add_argument("--measures", default="nDCG@10,R@100", help="names, with commas between")
    score.add_argument("--json", action="store_true", help="everything, a value a query included")
    score.set_defaults(command=do.score)

    audit = commands.add_parser("audit", help="what is odd about a collection")
    audit.add_argument("collection", help="a name, a hub id or a folder")
    audit.add_argument("--json", action="store_true", help="as JSON, with each check's breakdown")
    audit.add_argument("--rows", type=path, metavar="FOLDER",
                       help="write the rows behind each count, a Parquet file a check")
    audit.add_argument("--quick", action="store_true",
                       help="leave out near-equal texts, for which every word is read")
    audit.set_defaults(command=do.audit)

    splits = commands.add_parser("splits", help="train, dev and test that leak nothing, or what leaks")
    splits.add_argument("collection", help="a name, a hub id or a folder")
    how = splits.add_mutually_exclusive_group(required=True)
    how.add_argument("--out", type=path, metavar="FILE", help="make splits and write them (.parquet)")
    how.add_argument("--check", type=path, metavar="FILE",
                     help="say what leaks in splits made elsewhere (.parquet, .csv or .tsv)")
    splits.add_argument("--by-date", action="store_true", help="the oldest queries to train")
    splits.add_argument("--shares", metavar="NAME=SHARE,…",
                        help="names and shares (default: train=0.8,dev=0.1,test=0.1)")
    splits.add_argument("--ignore", action="append", metavar="TIE", help="a tie that may cross: "
                        "reciprocal, publication, number, 'equal text' or 'near-equal text'")
    splits.add_argument("--seed", type=whole, help="orders what is alike (default: 0)")
    splits.set_defaults(command=do.splits)
    serve = commands.add_parser("serve", help="BM25 over a collection as an HTTP service")
    serve.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    serve.add_argument("--view", default="tacd", help="what it sees of a document (default: tacd)")
    serve.add_argument("--host", type=said, default="127.0.0.1", help="the address to listen on")
    serve.add_argument("--port", type=whole, default=0, help="0, the default, takes a free one")
    serve.set_defaults(command=do.serve)

    fuse = commands.add_parser("fuse", help="saved runs as one, without a search")
    fuse.add_argument("runs", nargs="+", type=path, metavar="RUN_FOLDER",
                      help="a folder below outputs/runs")
    fuse.add_argument("--method", default="rrf", help="rrf, minmax or zscore (default: rrf)")
    fuse.add_argument("--k", type=whole, help="K of rrf (default: 60)")
    fuse.add_argument("--weights", metavar="WEIGHT,…",
                      help="of minmax and zscore, in the order of the runs (default: 1 each)")
    fuse.add_argument("--outputs", type=said, default="outputs",
                      help="folder for the fused run, best that of the runs (default: outputs)")
    fuse.set_defaults(command=do.fuse)

    rerank = commands.add_parser("rerank", help="a second stage over a saved run")
    rerank.add_argument("run", type=path, metavar="RUN_FOLDER", help="a folder below outputs/runs")
    rerank.add_argument("--collection", required=True, help="the run's: a name, a hub id or a folder")
    rerank.add_argument("--with", required=True, dest="reranker", metavar="RERANKER", help="a cross-encoder's "
                        "folder or hub id, module:name of an object, or a service's address")
    rerank.add_argument("--depth", type=whole, help="documents that are reranked (default: all of the run)")
    rerank.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="one parameter, such as -p corpus_view ta (default: the run's own)")
    rerank.add_argument("--outputs", type=said, default="outputs",
                        help="folder for the new run, best that of the first (default: outputs)")
    rerank.set_defaults(command=do.rerank)

    sweep = commands.add_parser("sweep", help="passage lengths and aggregations, and the best of them")
    sweep.add_argument("collection", help="a name, a hub id or a folder")
    sweep.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                       help="one parameter, such as -p systems '[bm25-passages]'")
    sweep.set_defaults(command=do.sweep)

    pin = commands.add_parser("pin", help="make a collection as it is a generation")
    pin.add_argument("collection", help="a name, a hub id or a folder")
    pin.add_argument("--revision", type=said, help="commit or tag of a hub data set")
    pin.add_argument("--name", type=said, help="of the generation (default: the environment and a number)")
    pin.add_argument("--yes", action="store_true", help="write it; else only what differs is shown")
    pin.set_defaults(command=do.pin)

    _add_build(commands)

    models = commands.add_parser("models", help="public embedding models as published")
    models.add_argument("--json", action="store_true", help="with where each fact is from")
    models.set_defaults(command=do.models)
    of_models = models.add_subparsers(metavar="verify")
    held = of_models.add_parser("verify", help="hold an entry against a model's own files")
    held.add_argument("name", help="a name that 'kit models' lists, or a hub id")
    held.add_argument("folder", nargs="?", type=path,
                      help="the model's folder (default: the package's, or the hub's cached one)")
    held.set_defaults(command=do.verify_model)

    compare = commands.add_parser("compare", help="scorecards side by side, or a refusal")
    compare.add_argument("scorecards", nargs="+", type=path, metavar="SCORECARD")
    compare.add_argument("--collection", help="where the collection is, if not where the cards say")
    compare.add_argument("--revision", type=said, help="commit or tag of a hub data set")
    compare.add_argument("--outputs", type=said, help="folder with the runs and the ledger of the scorecards")
    compare.add_argument("--modes", action="store_true",
                         help="one system in several modes: what it gains or loses")
    compare.add_argument("--out", type=path, metavar="FOLDER",
                         help="write comparison.md and its pictures there; else it is printed")
    compare.set_defaults(command=do.compare)

    publish = commands.add_parser("publish", help="the site anew, or one report in other formats")
    publish.add_argument("report", nargs="?", help="an experiment, or the path of an executed notebook or "
                         "a scorecard; with --format")
    publish.add_argument("--format", metavar="NAME,…",
                         help="markdown, html, pdf, csv, latex, parquet or svg, with commas between")
    publish.add_argument("--out", type=path, metavar="FOLDER",
                         help="where the files go (default: outputs/published/REPORT)")
    publish.add_argument("--outputs", type=said, default="outputs",
                         help="folder with the scorecards and notebooks (default: outputs)")
    publish.set_defaults(command=do.publish)

    verify = commands.add_parser("verify", help="recompute scorecards and name all that differs")
    verify.add_argument("scorecards", nargs="+", type=path, metavar="SCORECARD")
    verify.add_argument("--collection", help="where the collection is, if not where the card says")
    verify.add_argument("--revision", type=said, help="commit or tag of a hub data set")
    verify.add_argument("--outputs", type=said, help="folder with the runs and the ledger of the scorecards")
    verify.set_defaults(command=do.verify)
    return parser


def _add_build(commands) -> None:
    """`build MODE` and `freeze`."""
    build = commands.add_parser("build", help="a query set of a mode, to be frozen")
    modes = build.add_subparsers(required=True, metavar="MODE")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--collection", required=True, help="a name, a hub id or a folder")
    shared.add_argument("--revision", type=said, help="commit or tag of a hub data set")
    shared.add_argument("--protocol", default="all", help="which pairs are golds (default: all)")
    shared.add_argument("--out", required=True, type=path, metavar="FOLDER",
                        help="the new set's folder, whose name is its environment's")
    semantic = modes.add_parser("semantic_search", parents=[shared],
                                help="title and abstract as the query")
    semantic.set_defaults(command=do.build_semantic_search)

    litigation = modes.add_parser("litigation", help="challenged patents and what is asserted against them")
    litigation.add_argument("--collection", required=True, help="whose corpus is searched: a name, a hub id "
                            "or a folder")
    litigation.add_argument("--revision", type=said, help="commit or tag of a hub data set")
    litigation.add_argument("--papers", required=True, type=path, metavar="FOLDER",
                            help="the Board's JSON, of either generation, and texts (.txt)")
    litigation.add_argument("--table", action="append", default=[], type=path, metavar="FILE",
                            help="TSV, CSV or Parquet: application_id beside patent_id, pgpub_id, family_id or "
                            "doc_id (repeat it)")
    litigation.add_argument("--view", default="claims", help="of the challenged patent (default: claims)")
    litigation.add_argument("--audit-items", type=whole, default=100,
                            help="golds that people judge (default: 100)")
    litigation.add_argument("--audit-threshold", type=number, default=0.95, metavar="SHARE",
                            help="share of right golds that freezing asks for (default: 0.95)")
    litigation.add_argument("--seed", type=whole, default=0, help="draws the golds of the audit (default: 0)")
    litigation.add_argument("--out", required=True, type=path, metavar="FOLDER", help="the new set's folder")
    litigation.set_defaults(command=do.build_litigation)

    natural = modes.add_parser("natural_language", parents=[shared], help="claim 1 in plain words, by a "
                               "language model; without --yes it says what that costs, and stops")
    natural.add_argument("--model", type=said, required=True, help="the model's name at the endpoint")
    natural.add_argument("--base", type=said, help="the endpoint's address before /chat/completions")
    natural.add_argument("--key-env", type=said, metavar="NAME", help="environment variable that holds the key")
    natural.add_argument("--yes", action="store_true", help="send the requests")
    natural.add_argument("--prompt", type=path, metavar="FILE", help="in place of the kit's own")
    natural.add_argument("--max-tokens", type=whole, default=600, help="of an answer (default: 600)")
    natural.add_argument("--price-in", type=number, help="of a million tokens in, for the estimate")
    natural.add_argument("--price-out", type=number, help="of a million tokens out")
    natural.add_argument("--parallel", type=whole, default=4, help="requests in flight at most (default: 4)")
    natural.add_argument("--timeout", type=number, default=120, help="seconds of a request (default: 120)")
    natural.add_argument("--retries", type=whole, default=5, help="after 429, 5xx and lost connections")
    natural.add_argument("--limit", type=whole, metavar="N", help="draw N queries (default: all)")
    natural.add_argument("--seed", type=whole, default=0, help="draws queries and the audit (default: 0)")
    natural.add_argument("--batch-out", type=path, metavar="FILE",
                         help="write the requests as a batch file, and stop")
    natural.add_argument("--batch-in", type=path, action="append", default=[], metavar="FILE",
                         help="take answers from a batch's output")
    natural.add_argument("--accept-missing", action="store_true",
                         help="count requests without an answer as lost")
    natural.add_argument("--copy-limit", type=number, default=0.5, metavar="SHARE", help="an answer of which "
                         "more word sequences stand in the claim is left out (default: 0.5)")
    natural.add_argument("--audit-items", type=whole, default=100, help="rows that people judge (default: 100)")
    natural.add_argument("--audit-threshold", type=number, default=0.9, metavar="SHARE",
                         help="share of good rows that freezing asks for (default: 0.9)")
    natural.set_defaults(command=do.build_natural_language)

    freeze = commands.add_parser("freeze", help="a built query set becomes a generation of its mode")
    freeze.add_argument("folder", help="a folder that 'build' made")
    freeze.add_argument("--name", type=said, help="of the generation (default: the folder's name and a number)")
    freeze.set_defaults(command=do.freeze)
