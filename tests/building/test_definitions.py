"""From a definition to its one number, as people write them; and never a number that does not stand there."""

import pytest
from litigation_forms import AFTER, BEFORE, CHALLENGED, TRIAL

from kit.building.asserted import read_trial
from kit.building.document import Document

# (a definition, the number that it gives to Arden or the kind of its loss); all invented
DEFINITIONS = [
    ("Soviet Union Inventor’s Certificate No. 1,234,567 (Ex. 1005, “Arden”).", "foreign"),
    ("Korean Laid-Open Patent Publication No. 10-2004-0031001 (Ex. 1005, “Arden”).", "foreign"),
    ("Japanese Kokai Hei 7-123456 (“Arden”).", "foreign"),
    ("Japanese Unexamined Utility Model Registration Publication No. S62-123456 (Ex. 1005, "
     "“Arden”).", "foreign"),
    ("German Offenlegungsschrift DE 3,123,456 A1 (Ex. 1005, “Arden”).", "foreign"),
    ("German Offenlegungsschrift 3,123,456 (Ex. 1005, “Arden”).", "foreign"),
    ("French Patent No. 2,345,678 (Ex. 1005, “Arden”).", "foreign"),
    ("U.K. Patent Application GB 2 123 456 A (Ex. 1005, “Arden”).", "foreign"),
    ("UK Pat. App. No. 2,123,456 (Ex. 1005, “Arden”).", "foreign"),
    ("Chinese Utility Model CN 201234567U (Ex. 1005, “Arden”).", "foreign"),
    ("Australian Patent Application AU-A-12345/95 (Ex. 1005, “Arden”).", "foreign"),
    ("Int’l Pub. No. WO 2004/031001 (Ex. 1005, “Arden”).", "foreign"),
    ("PCT Application No. PCT/US2005/012345 (Ex. 1005, “Arden”).", "foreign"),
    ("PCT Publication WO2004/031001A1 to Arden (Ex. 1005).", "foreign"),
    ("European Patent Application Publication EP 0 123 456 A2 (Ex. 1005, “Arden”).", "foreign"),
    ("EP1234567B1 (Ex. 1005, “Arden”).", "foreign"),
    ("European Pat. App. 1,234,567 (Ex. 1005, “Arden”).", "foreign"),
    ("JP2004123456A (Ex. 1005, “Arden”).", "foreign"),
    ("Japanese Patent Application Publication 2004-123456 to Arden (Ex. 1005).", "foreign"),
    ("Japanese Publication No. 2004/0123456 (Ex. 1005, “Arden”).", "foreign"),
    ("Taiwanese Patent No. I123456 (Ex. 1005, “Arden”).", "foreign"),
    ("International Application Publication 2004/031001 (Ex. 1005, “Arden”).", "foreign"),
    ("U.S. Patent No. Re. 38,001 (Ex. 1005, “Arden”).", "RE38001"),
    ("U.S. Reissue Pat. No. 38,001 (Ex. 1005, “Arden”).", "RE38001"),
    ("U.S. Des. Pat. No. 612,001 (Ex. 1005, “Arden”).", "D612001"),
    ("U.S. Patent No. Des. 612,001 (Ex. 1005, “Arden”).", "D612001"),
    ("U.S. Plant Patent No. 12,345 (Ex. 1005, “Arden”).", "PP12345"),
    ("United States Statutory Invention Registration H2,101 (Ex. 1005, “Arden”).", "H2101"),
    ("U.S. Patent No. 7,310,001 C1 (Ex. 1005, “Arden”).", "7310001"),
    ("U.S. Patent No. 7,310,001 (Ex. 1005) (“Arden”), the published application of which is U.S. "
     "2005/0123456 (Ex. 1006).", "7310001"),
    ("U.S. Patent No. 7,310,001 (“Arden”), which incorporates by reference U.S. Patent No. 6,900,001 "
     "(Ex. 1011).", "7310001"),
    ("U.S. Patent No. 7,310,001 (Ex. 1005, “Arden”), which issued from U.S. Patent Application No. "
     "10/123,456.", "7310001"),
    ("U.S. Patent No. 7,310,001, which claims the benefit of U.S. Provisional Patent Application No. "
     "60/123,456 (Ex. 1011), (Ex. 1005, “Arden”).", "7310001"),
    ("U.S. Patent Application Serial No. 10/123,456, published as U.S. Patent Application "
     "Publication No. 2004/0123456 A1 (Ex. 1005, “Arden”).", "10123456"),
    ("U.S. Patent Application Publication No. 2004/0123456 A1, now U.S. Patent No. 7,310,001 (Ex. "
     "1005, “Arden”).", "7310001"),
    ("Arden (Ex. 1005; U.S. Patent No. 7,310,001).", "7310001"),
    ("Arden (Ex. 1005) is U.S. Patent No. 7,310,001.", "7310001"),
    ("Arden (Ex. 1005, U.S. Patent 7,310,001 B2) issued on Dec. 18, 2007.", "7310001"),
    ("Ex. 1005 (“Arden”), U.S. Patent No. 7,310,001.", "7310001"),
    ("Arden, titled “Latch for Doors,” is U.S. Patent No. 7,310,001 (Ex. 1005).", "7310001"),
    ("Arden issued as U.S. Patent No. 7,310,001 on Dec. 18, 2007.", "7310001"),
    ("U.S. Patent No. 7,310,001 issued to Jane Arden on Dec. 18, 2007 (Ex. 1005).", "7310001"),
    ("U.S. Patent No. 7,310,001 (Jane Arden et al.) (Ex. 1005).", "7310001"),
    ("Jane Arden, U.S. Patent No. 7,310,001 (issued Dec. 18, 2007) (Ex. 1005).", "7310001"),
    ("EX1005 U.S. Patent No. 7,310,001 (“Arden”)", "7310001"),
    ("EX-1005 – U.S. Patent No. 7,310,001 to Arden, et al.", "7310001"),
    ("1005 U.S. Patent No. 7,310,001 (Arden)", "7310001"),
    ("1005 Arden, U.S. Patent No. 7,310,001 1006 Cole, U.S. Patent No. 6,210,003", "7310001"),
    ("U.S. Patent No. 7,310,001 (hereafter, “Arden”) (EX1005).", "7310001"),
    ("U.S. Patent No. 7,310,001 (referred to herein as “Arden”).", "7310001"),
    ("U.S. Patent No. 7,310,001 (“the Arden patent”).", "7310001"),
    ("U.S. Patent No. 7,310,001 (“Arden”; Ex. 1005).", "7310001"),
    ("U.S. Pat. App. Publ’n No. 2004/0123456 (“Arden”).", "20040123456"),
    ("U.S. Patent Publication No. 2004-0123456 A1 (Ex. 1005, “Arden”).", "20040123456"),
    ("U.S. Patent Publication No. US 2004/123456 (Ex. 1005, “Arden”).", "20040123456"),
    ("U.S. Publication 2004/0 123456 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent Publication Number 2004 0123456 (Ex. 1005, “Arden”).", "20040123456"),
    ("United States Published Application No. 20040123456 (Ex. 1005, “Arden”).", "20040123456"),
    ("U.S. Patent No. 7,310,0O1 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,310,0 01 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,310;001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,310,01 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 73,10,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,310,0012 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7310,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. S,310,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. l0,310,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,3|0,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,3!0,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,31\ufffd,001 (Ex. 1005, “Arden”).", "damaged number"),
    ("US 2OO8/O216889 Al (Ex. 1005, “Arden”).", "damaged number"),
    ("US 2008/02168S9 A1 (Ex. 1005, “Arden”).", "damaged number"),
    ("US 2008/02l6889A1 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Application No. 1O/123,456 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent Application Publication 2008/021688 (Ex. 1005, “Arden”).", "20080021688"),
    ("U.S. Patent Application Publication 2008/02168890 (Ex. 1005, “Arden”).", "damaged number"),
    ("U.S. Patent No. 7,310,001.2 2 Arden issued in 2007. Arden, U.S. Patent No. 7,310,001.", "7310001"),
    ("U.S. Patent No. 7,310,001,3 issued in 2007 (Ex. 1005, “Arden”).", "7310001"),
    ("In prosecution, U.S. Patent No. 6,900,001 was cited. Arden is discussed elsewhere.", "no definition of the name"),
]


@pytest.mark.parametrize("around", [False, True], ids=["alone", "amid decoys"])
@pytest.mark.parametrize("told, meant", DEFINITIONS)
def test_a_definition_leads_to_its_number_or_says_why_not(told, meant, around):
    text = f"Claims 1–5 are anticipated by Arden. {told}"
    found = read_trial([Document("d", f"{BEFORE}{text}{AFTER}" if around else text)], CHALLENGED, frozenset({TRIAL}))
    [arden] = found.references
    assert (arden.loss or " ".join(c.number.value for c in arden.candidates)) == meant
    if meant == "damaged number":
        assert any(sign.isdigit() for sign in arden.detail) and not arden.detail.isdigit()
