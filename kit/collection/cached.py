"""What `datasets` has kept of a hub data set, for when the hub can't be reached.

Its cache holds a whole table a folder, `owner___name/CONFIG/VERSION/COMMIT`, where CONFIG is the
table's name, with a hash behind it if the table was loaded with columns or features of ours.
"""

import json
import socket
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

import datasets
from datasets.naming import camelcase_to_snakecase
from datasets.packaged_modules.cache.cache import Cache
from huggingface_hub import constants

from kit.collection.schema import Layout
from kit.errors import CollectionError

KNOCK = 5  # seconds that the hub has to answer


def hub_answers() -> bool:
    """Whether something listens at the hub's address; where a proxy leads there it is not known before.

    Its own client asks six times before it gives up, which takes 23 seconds.
    """
    if getproxies():
        return True
    hub = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname, hub.port or {"http": 80}.get(hub.scheme, 443)), KNOCK).close()
    except OSError:
        return False
    return True


def cached_builder(hub_id: str, layout: Layout, table: str, revision: str | None) -> Cache:
    """The builder of a kept table: of the commit `revision`, or of the one that was kept last.

    All tables come from one commit. Raises CollectionError when none has all three.
    """
    owner, _, name = hub_id.rpartition("/")
    root = Path(datasets.config.HF_DATASETS_CACHE).expanduser() / "___".join(
        filter(None, (owner, camelcase_to_snakecase(name))))
    names = set(layout.configs.values())
    whole = {commit: kept for commit, kept in _kept(root, layout.split).items() if names <= set(kept)}
    commits = [c for c in whole if c == (revision or c)]
    if not commits:
        asked = f" of the commit '{revision}'" if revision else " of all three tables"
        raise CollectionError(
            f"the hub can't be reached, and the cache has no copy{asked}", hub_id,
            f"Whole copies are kept of {', '.join(sorted(whole)) or 'no commit'}; go online once, "
            f"or give a folder with {', '.join(dict.fromkeys(layout.configs.values()))} as downloaded")
    folder = whole[max(commits, key=lambda c: _age(whole[c]["corpus"]))][layout.configs[table]]
    config, version, commit = folder.parts[-3:]
    return Cache(repo_id=hub_id, dataset_name=name, config_name=config, version=version, hash=commit)


def _kept(root: Path, split: str) -> dict[str, dict[str, Path]]:
    """{commit: {table: its folder}}; of several copies of a table the last."""
    found = defaultdict(dict)
    for info in sorted(root.glob("*/*/*/dataset_info.json"), key=_age):
        stated = json.loads(info.read_text(encoding="utf-8"))
        if split in (stated.get("splits") or {}):
            found[info.parent.name][stated["config_name"]] = info.parent
    return found


def _age(path: Path) -> float:
    return path.stat().st_mtime
