"""One small experiment in a process of its own, for test_reproducible: prints digests as JSON.

    python reproduce.py FOLDER OUTPUTS [SAMPLE]
"""

import json
import sys

from kit.collection.sources import open_collection
from kit.files import digest_of, digest_of_file
from kit.params import make_params
from kit.reporting import score
from kit.retrieval import execute


def made(folder: str, outputs: str, streaming: bool = False) -> dict:
    """{what: its digest, or the figures themselves}."""
    collection = open_collection(folder, streaming=streaming)
    params = make_params({
        "outputs": outputs, "collection": folder, "systems": ["bm25", "bm25-passages", "fusion"],
        "passage_length": 64, "measures": ["nDCG@10", "R@100", "AP", "PRES@100", "GoldCoverage@100"]})
    runs = execute.retrieve_all(collection, params)
    figures = score.figures_of_runs(collection, runs, params)
    sample = params.model_copy(update={"sample": 20, "systems": ["bm25"]})
    drawn = sorted(execute.searched_ids(collection, sample))
    return {"prints": collection.fingerprints["together"],
            "runs": {run.system: digest_of_file(run.folder / "run.parquet") for run in runs},
            "manifests": {run.system: digest_of({k: run.manifest[k] for k in (
                "ties_at_the_cut", "own_entries_excluded", "empty_rankings", "failures", "notes")}) for run in runs},
            "sample": drawn,
            "figures": {name: json.loads(frame.to_json(orient="records", double_precision=15))
                        for name, frame in figures.items()}}


if __name__ == "__main__":
    print(json.dumps(made(sys.argv[1], sys.argv[2], len(sys.argv) > 3)))
