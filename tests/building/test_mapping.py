"""Mapping tables in every format give the same; identifiers stay texts; what can be no gold is passed over."""

import pandas as pd
import pytest

from kit.building.mapping import read_mapping
from kit.errors import BuildError

ROWS = [("7310001", "09310001"), ("6210003", "10210003"), ("6210003", "10210004"), ("RE38001", "09038001"),
        ("5000001", "60123456"), ("5000002", "90123456"), ("5000003", "")]
ASKED = {"patent": {"7310001", "6210003", "RE38001", "5000001", "5000002", "5000003"},
         "publication": {"20090410002"}}


def written(path, columns, rows, apart="\t"):
    path.write_text("\n".join(apart.join(row) for row in [columns, *rows]) + "\n")
    return path


@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet"])
def test_the_formats_give_the_same(tmp_path, ending):
    path = tmp_path / f"patents.{ending}"
    if ending == "parquet":
        pd.DataFrame(ROWS, columns=["patent_id", "application_id"]).to_parquet(path)
    else:
        written(path, ("patent_id", "application_id"), ROWS, {"tsv": "\t", "csv": ","}[ending])
    assert read_mapping([path], ASKED).patent == {
        "7310001": {"09310001"}, "6210003": {"10210003", "10210004"}, "RE38001": {"09038001"}}


def test_numbers_of_a_parquet_file_that_lost_their_zero(tmp_path):
    pd.DataFrame({"patent_id": ["7310001"], "application_id": [9310001]}).to_parquet(tmp_path / "p.parquet")
    assert read_mapping([tmp_path / "p.parquet"], ASKED).patent == {"7310001": {"09310001"}}


def test_quotes_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text('\ufeff"pgpub_id","application_id"\n"20090410002","12/410,002"\n', encoding="utf-8")
    assert read_mapping([path], ASKED).publication == {"20090410002": {"12410002"}}


def test_the_examiners_own_table(tmp_path):
    path = written(tmp_path / "peds.tsv", ("applId", "patentNumber", "appEarlyPubNumber"),
                   [("09310001", "7310001", "US20090410002A1"), ("11038001", "RE38001", "")])
    mapping = read_mapping([path], ASKED)
    assert mapping.patent == {"7310001": {"09310001"}, "RE38001": {"11038001"}}
    assert mapping.publication == {"20090410002": {"09310001"}}


def test_families_and_documents_follow_from_the_applications(tmp_path):
    patents = written(tmp_path / "patents.tsv", ("patent_id", "application_id"), ROWS)
    more = written(tmp_path / "more.tsv", ("application_id", "family_id", "doc_id"),
                   [("09310001", "F1", "d1"), ("12000000", "F1", "d2"), ("10210003", "F2", "")])
    mapping = read_mapping([more, patents], ASKED)
    assert mapping.family == {"09310001": {"F1"}, "10210003": {"F2"}}
    assert mapping.document == {"09310001": {"d1"}}


def test_only_what_is_asked_for_is_kept(tmp_path):
    path = written(tmp_path / "p.tsv", ("patent_id", "application_id"), ROWS)
    mapping = read_mapping([path], {"patent": {"7310001"}})
    assert mapping.patent == {"7310001": {"09310001"}} and mapping.rows == 4


@pytest.mark.parametrize("text, said", [("a\tb\n1\t2\n", "has the columns a, b"), ("", "can't be read"),
                                        ("patent_id\n7310001\n", "has the columns patent_id")])
def test_a_table_of_something_else_is_refused(tmp_path, text, said):
    (tmp_path / "p.tsv").write_text(text)
    with pytest.raises(BuildError, match=said):
        read_mapping([tmp_path / "p.tsv"], ASKED)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(BuildError, match="can't be read"):
        read_mapping([tmp_path / "none.parquet"], ASKED)
