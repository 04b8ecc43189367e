"""Made-up passages of decisions and petitions: every way in which a ground and a reference are told.

All names and numbers are invented.  The challenged patent is 9,876,501 and the trial IPR2031-00417 unless a form says otherwise. A form's `grounds` are
(claims, statutes, names); `golds` are {name: number} of those that lead to one US number that may have
an application; `lost` are {name: kind} of the others.
"""

from dataclasses import dataclass, field

CHALLENGED, TRIAL = "9876501", "IPR2031-00417"


@dataclass(frozen=True)
class Form:
    """One passage, and all that may be taken from it."""

    text: str
    grounds: list[tuple[str, str, str]]
    golds: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    challenged: str = CHALLENGED
    trials: frozenset[str] = frozenset({TRIAL})
    more: tuple[str, ...] = ()  # further documents of the trial, behind this one
    claim_count: int | None = None


# Put around every form: numbers and names that no ground of the trial asserts.
BEFORE = """UNITED STATES PATENT AND TRADEMARK OFFICE
BEFORE THE PATENT TRIAL AND APPEAL BOARD
GLIMMER TOOLS, INC., Petitioner, v. OAKMERE LLC, Patent Owner.
IPR2031-00417 Patent 9,876,501 B2
Before ADA QUILL, JONAH REED, and MIRA STONE, Administrative Patent Judges.
A. Related Matters The parties say that claims 1–4 of U.S. Patent No. 8,765,111 were held obvious over
Drayton (U.S. Patent No. 5,432,111) in IPR2030-00999, and that U.S. Patent No. 8,765,222 is asserted in
Oakmere LLC v. Vexley Corp., No. 1:30-cv-00111.
B. The ’501 Patent The ’501 patent (Ex. 1001) claims priority to U.S. Provisional Application No.
61/777,001 and cites U.S. Patent No. 6,001,777 to Penhale. In prosecution the Examiner rejected claims 1–9
as obvious over Penhale in view of Drayton, and allowed them later.
C. Grounds
"""
AFTER = """
D. Claim Construction The term “latch” was read in the same way for U.S. Patent No. 8,765,333 (Ex. 2004,
“the ’333 patent”) and in U.S. Patent No. 7,010,203 (Ex. 2005, “Vance”). Patent Owner argues that claims
1–3 would not have been obvious over Vance in view of Penhale, which nobody asserts.
E. Level of Ordinary Skill See Ex. 2006, an article about U.S. Patent No. 4,999,888 (Ex. 2007, “Tolland”).
"""
ARDEN = "U.S. Patent No. 7,310,001 B2, issued May 6, 2008 (Ex. 1005, “Arden”)"
BRISK = "U.S. Patent Application Publication No. 2009/0410002 A1, published Oct. 1, 2009 (Ex. 1006, “Brisk”)"
COLE = "U.S. Patent No. 6,210,003 (Ex. 1007, “Cole”)"
DEFINED = f"Petitioner relies on {ARDEN}; {BRISK}; and {COLE}."
A, B, C = {"Arden": "7310001"}, {"Brisk": "20090410002"}, {"Cole": "6210003"}
AB, ABC = {**A, **B}, {**A, **B, **C}

FORMS: dict[str, Form] = {

    # --- tables, as flattened text has them ---------------------------------------------------------
    "table": Form(
        f"{DEFINED} Petitioner asserts: Claim(s) Challenged 35 U.S.C. § Reference(s)/Basis 1–5 102(b) Arden "
        "6, 7, 9–12 103(a) Arden, Brisk 8 103(a) Arden, Brisk, Cole Petitioner also relies on a declaration.",
        [("1-5", "102", "Arden"), ("6,7,9-12", "103", "Arden Brisk"), ("8", "103", "Arden Brisk Cole")], ABC),
    "numbers with blanks beside their commas, and over two lines": Form(
        "Claims 35 U.S.C. § References 1–5 102(b) Arden 6 103(a) Arden, Brisk U.S. Patent No. 7, 310, 001 B2 (Ex. 1005, "
        "“Arden”). U.S. Patent No. 6,210\n,003 (Ex. 1006, “Brisk”).",
        [("1-5", "102", "Arden"), ("6", "103", "Arden Brisk")], {**A, "Brisk": "6210003"}),
    "names that are words of decisions too": Form(
        "Claims 1–5 are unpatentable under § 103 over Page and May. U.S. Patent No. 7,310,001 (Ex. 1005, “Page”). "
        "U.S. Patent No. 6,210,003, issued May 6, 2008 (Ex. 1006, “May”).",
        [("1-5", "103", "Page May")], {"Page": "7310001", "May": "6210003"}),
    "table with footnote digits on names": Form(
        f"Claims Challenged 35 U.S.C. §1 References 1, 3–6 102(e) Arden2 7–9 103(a) Arden, Brisk3 1 The Act "
        f"changed both sections. 2 {ARDEN}. 3 {BRISK}.",
        [("1,3-6", "102", "Arden"), ("7-9", "103", "Arden Brisk")], AB),
    "table with a footnote digit behind a comma": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–4 103(a) Arden,2 Brisk3 5 103(a) Cole {DEFINED}",
        [("1-4", "103", "Arden Brisk"), ("5", "103", "Cole")], ABC),
    "table with a footnote digit on the statute": Form(
        f"Claims Challenged 35 U.S.C. § References 1–4 1033 Arden, Brisk 3 The earlier form applies. {DEFINED}",
        [("1-4", "103", "Arden Brisk")], AB),
    "table with a footnote digit apart": Form(
        f"Claims Challenged 35 U.S.C. § References 1–4 103(a) Arden 2 and Brisk 5 103(a) Cole 1 {DEFINED}",
        [("1-4", "103", "Arden Brisk"), ("5", "103", "Cole")], ABC),
    "table with the references first": Form(
        f"Reference(s) Basis Claims Challenged Arden § 102(b) 1–5 Arden and Brisk § 103(a) 6–10 and 12 "
        f"Arden, Brisk, and Cole § 103(a) 13 We discuss each in turn. {DEFINED}",
        [("1-5", "102", "Arden"), ("6-10,12", "103", "Arden Brisk"), ("13", "103", "Arden Brisk Cole")], ABC),
    "table with numbered grounds": Form(
        f"Ground Claims 35 U.S.C. § Reference(s) 1 1–5 102 Arden 2 6, 7 103 Arden, Brisk 3 8 103 Cole {DEFINED}",
        [("1-5", "102", "Arden"), ("6,7", "103", "Arden Brisk"), ("8", "103", "Cole")], ABC),
    "table with labels in words": Form(
        f"Ground Claims Basis References Ground 1 1–5 § 102 Arden Ground 2 6–8 § 103 Arden and Cole. {DEFINED}",
        [("1-5", "102", "Arden"), ("6-8", "103", "Arden Cole")], {**A, **C}),
    "table with the references before the statute": Form(
        f"Claims References Statutory Basis 1–5 Arden § 102(a) 6–9 Arden in view of Brisk § 103(a) {DEFINED}",
        [("1-5", "102", "Arden"), ("6-9", "103", "Arden Brisk")], AB),
    "table with the statute first": Form(
        f"35 U.S.C. § Reference(s) Challenged Claims 102(b) Arden 1–5 103(a) Arden, Cole 6–9 {DEFINED}",
        [("1-5", "102", "Arden"), ("6-9", "103", "Arden Cole")], {**A, **C}),
    "table with words for the statutes": Form(
        f"Claims Basis Reference(s) 1–5 Anticipation Arden 6–9 Obviousness Arden and Brisk {DEFINED}",
        [("1-5", "102", "Arden"), ("6-9", "103", "Arden Brisk")], AB),
    "table of outcomes": Form(
        f"{DEFINED} Claims 35 U.S.C. § Reference(s)/Basis Claims Shown Unpatentable Claims Not Shown "
        "Unpatentable 1, 6 102(b) Arden 1, 6 7–9 103(a) Arden, Brisk 7, 8 9 Overall Outcome 1, 6–8 9",
        [("1,6", "102", "Arden"), ("7-9", "103", "Arden Brisk")], AB),
    "table without a header": Form(
        f"{DEFINED} The grounds are these. 1–3, 5 § 102(b) Arden 4, 6 § 103(a) Arden, Cole",
        [("1-3,5", "102", "Arden"), ("4,6", "103", "Arden Cole")], {**A, **C}),
    "table broken by a page header": Form(
        "Claims Challenged 35 U.S.C. § References 1–4 103(a) Arden, IPR2031-00417 Patent 9,876,501 B2 7 Brisk "
        f"5, 6 103(a) Cole {DEFINED}",
        [("1-4", "103", "Arden Brisk"), ("5,6", "103", "Cole")], ABC),
    "table over lines": Form(
        f"Claim(s)\nChallenged\n35 U.S.C.\n§\nReference(s)/Basis\n1–5\n102(b)\nArden\n6, 7,\n9\n103(a)\nArden, "
        f"\nBrisk\n\n{DEFINED}",
        [("1-5", "102", "Arden"), ("6,7,9", "103", "Arden Brisk")], AB),
    "table with references side by side": Form(
        f"Claims 35 U.S.C. § References\n1–5\n103(a)\nArden\nBrisk\n6\n103(a)\nCole\n{DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Cole")], ABC),
    "table with cells over two lines": Form(
        f"Claims 35 U.S.C. § References 1–5, 8, 103(a) Arden, 9, 11 Brisk 12 103(a) Cole {DEFINED}",
        [("", "103", "Arden Brisk"), ("12", "103", "Cole")], ABC, doubts=("a cell over two lines",)),
    "table with a §112 row": Form(
        f"Claims Challenged 35 U.S.C. § Basis 1–5 102 Arden 6 112 Indefiniteness 7–9 103 Arden, Cole {DEFINED}",
        [("1-5", "102", "Arden"), ("7-9", "103", "Arden Cole")], {**A, **C}, left_out=("112",)),
    "table with a §101 row": Form(
        f"Claims 35 U.S.C. § References/Basis 1–9 101 Eligibility 1–9 103(a) Brisk {DEFINED}",
        [("1-9", "103", "Brisk")], B, left_out=("101",)),
    "table with two statutes in a row": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–5 102(b), 103(a) Arden 6 103(a) Arden, Brisk {DEFINED}",
        [("1-5", "102 103", "Arden"), ("6", "103", "Arden Brisk")], AB),
    "table with general knowledge": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–5 103 Arden, knowledge of an ordinary artisan 6 103 Arden, Cole {DEFINED}",
        [("1-5", "103", "Arden"), ("6", "103", "Arden Cole")], {**A, **C}),
    "table with admitted prior art": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–5 103 AAPA, Arden 6 103 Cole {DEFINED}",
        [("1-5", "103", "AAPA Arden"), ("6", "103", "Cole")], {**A, **C}, {"AAPA": "no patent"}),
    "table with exhibits": Form(
        "Claims 35 U.S.C. § References 1–5 102(b) Arden (Ex. 1005) 6–8 103(a) Arden (Ex. 1005) and Brisk "
        "(Ex. 1006) Exhibit List 1005 U.S. Patent No. 7,310,001 to Arden 1006 US 2009/0410002 A1 to Brisk",
        [("1-5", "102", "Arden"), ("6-8", "103", "Arden Brisk")], AB),
    "table with a numbered section symbol": Form(
        f"Claim(s) Challenged Basis Reference(s) 1, 2 35 U.S.C. § 102(a)(1) Arden 3 35 U.S.C. § 103 Arden, Cole "
        f"{DEFINED}", [("1,2", "102", "Arden"), ("3", "103", "Arden Cole")], {**A, **C}),
    "table in capitals": Form(
        f"CLAIMS 35 U.S.C. § REFERENCES 1–5 § 102(b) ARDEN 6–9 § 103(a) ARDEN IN VIEW OF BRISK {DEFINED}",
        [("1-5", "102", "ARDEN"), ("6-9", "103", "ARDEN BRISK")], {"ARDEN": "7310001", "BRISK": "20090410002"}),
    "table whose text layer has backticks": Form(
        f"`Claims\n`\n`35 U.S.C. §\n`\n`References\n`\n`1–5\n`\n`102(b)\n`\n`Arden\n`\n`6\n`103(a)\n`Brisk\n`{DEFINED}",
        [("1-5", "102", "Arden"), ("6", "103", "Brisk")], AB),
    "table before a sentence that begins with a name": Form(
        f"{DEFINED} Claims 35 U.S.C. § References 1–5 103(a) Arden, Brisk Cole is discussed as background only.",
        [("1-5", "103", "Arden Brisk")], AB),

    "rows of references without a header": Form(
        f"{DEFINED} The grounds are these: Arden § 102(b) 1, 2 Arden and Brisk § 103(a) 3–5",
        [("1,2", "102", "Arden"), ("3-5", "103", "Arden Brisk")], AB),
    "a row that names a reference twice": Form(
        f"Claims 35 U.S.C. § References 1–5 103(a) Arden, or Arden and Brisk 6 103(a) Cole {DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Cole")], ABC),
    "table under the earlier law": Form(
        f"Claims 35 U.S.C. § References 1–5 pre-AIA 103(a)2 Arden, Cole 2 The earlier law applies. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),

    # --- dashes that were lost --------------------------------------------------------------------
    "a dash lost, above the claim count": Form(
        f"Claims 35 U.S.C. § References 122, 3241 103(a) Arden, Brisk {DEFINED}",
        [("", "103", "Arden Brisk")], AB, doubts=("above the claim count",), claim_count=41),
    "a dash lost, out of order": Form(
        f"Claims 122, 35, 41 are unpatentable under 35 U.S.C. § 103(a) as obvious over Arden. {DEFINED}",
        [("", "103", "Arden")], A, doubts=("numbers out of order",)),
    "a range turned round": Form(
        f"Claims 12–9 would have been obvious over Cole. {DEFINED}",
        [("", "103", "Cole")], C, doubts=("numbers out of order",)),
    "a claim above the patent's count": Form(
        f"Claims 1–30 would have been obvious over Cole. {DEFINED}",
        [("", "103", "Cole")], C, doubts=("above the claim count",), claim_count=20),

    # --- sentences --------------------------------------------------------------------------------
    "anticipated by": Form(
        f"Petitioner contends that claims 1–5 are anticipated by Arden under 35 U.S.C. § 102(b). {DEFINED}",
        [("1-5", "102", "Arden")], A),
    "anticipated under, by": Form(
        f"Claims 1, 2, and 4 are unpatentable as anticipated under 35 U.S.C. § 102(e) by Arden. {DEFINED}",
        [("1,2,4", "102", "Arden")], A),
    "obvious over, in view of, further in view of": Form(
        "Claim 7 would have been obvious over Arden in view of Brisk and further in view of Cole. Pet. 12. "
        f"{DEFINED}", [("7", "103", "Arden Brisk Cole")], ABC),
    "unpatentable under, over": Form(
        f"We institute as to claims 3–8 as unpatentable under § 103(a) over Arden and Brisk. {DEFINED}",
        [("3-8", "103", "Arden Brisk")], AB),
    "the combination of": Form(
        f"whether claims 1 through 6 would have been obvious over the combination of Arden, Brisk, and Cole. {DEFINED}",
        [("1-6", "103", "Arden Brisk Cole")], ABC),
    "the combined teachings of": Form(
        f"Claims 1 to 3 are unpatentable as obvious in view of the combined teachings of Arden and Cole. {DEFINED}",
        [("1-3", "103", "Arden Cole")], {**A, **C}),
    "a list of grounds in one sentence": Form(
        "Petitioner challenges claims 1–5 as anticipated by Arden under § 102(b); claims 6–8 as obvious over "
        f"Arden and Brisk under § 103(a); and claim 9 as obvious over Brisk in light of Cole. {DEFINED}",
        [("1-5", "102", "Arden"), ("6-8", "103", "Arden Brisk"), ("9", "103", "Brisk Cole")], ABC),
    "two verbs, one reference": Form(
        f"Claims 1–5 are anticipated by or, in the alternative, obvious over Arden. {DEFINED}",
        [("1-5", "102 103", "Arden")], A),
    "rendered obvious by": Form(
        f"Claims 2 and 3 are rendered obvious by Brisk, alone or in combination with Cole. {DEFINED}",
        [("2,3", "103", "Brisk Cole")], {**B, **C}),
    "obvious based on": Form(
        f"Claims 2–4 are unpatentable as obvious based on Arden and Brisk. {DEFINED}",
        [("2-4", "103", "Arden Brisk")], AB),
    "a heading": Form(
        f"F. Obviousness of Claims 1–5 over Arden and Brisk\nPetitioner points to both. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "a heading of anticipation": Form(
        f"F. Asserted Anticipation of Claims 1 and 2 by Cole\nArden is not needed here. {DEFINED}",
        [("1,2", "102", "Cole")], C),
    "the claims behind": Form(
        f"G. Asserted Obviousness over Arden and Cole: Claims 4–6\nWe turn to the merits. {DEFINED}",
        [("4-6", "103", "Arden Cole")], {**A, **C}),
    "an active verb": Form(
        f"Petitioner asserts that Arden anticipates claims 1–3 and 5. {DEFINED}",
        [("1-3,5", "102", "Arden")], A),
    "renders obvious": Form(
        f"Petitioner asserts that the combination of Arden and Brisk renders obvious claims 4–6. {DEFINED}",
        [("4-6", "103", "Arden Brisk")], AB),
    "renders claims obvious": Form(
        f"Arden in view of Cole renders claims 7 and 8 obvious. {DEFINED}",
        [("7,8", "103", "Arden Cole")], {**A, **C}),
    "a statute without a verb": Form(
        f"Petitioner challenges claims 1–5 under 35 U.S.C. § 103(a) over Arden and Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "the statute amid the references": Form(
        f"Claims 1–5 are obvious over Arden under 35 U.S.C. § 103(a) in view of Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "either of two": Form(
        f"Claim 3 would have been obvious over Arden in combination with either Brisk or Cole. {DEFINED}",
        [("3", "103", "Arden Brisk Cole")], ABC),
    "found obvious": Form(
        f"An ordinary artisan would have found claims 1–3 obvious in light of Cole’s hinge and Arden. {DEFINED}",
        [("1-3", "103", "Cole Arden")], {**A, **C}),
    "an outcome against the petitioner": Form(
        "Petitioner has not shown that claims 6–8 are unpatentable under 35 U.S.C. § 103(a) over Arden and "
        f"Cole. {DEFINED}", [("6-8", "103", "Arden Cole")], {**A, **C}),
    "all challenged claims": Form(
        f"Petitioner contends that the challenged claims would have been obvious over Arden and Brisk. {DEFINED}",
        [("", "103", "Arden Brisk")], AB, doubts=("not stated by number",)),
    "a possessive": Form(
        f"Claims 1–4 would have been obvious over Arden’s method in view of Brisk’s teachings. {DEFINED}",
        [("1-4", "103", "Arden Brisk")], AB),
    "words broken by a hyphen and a page header": Form(
        "Claims 1–4 would have been obvi-\nous over Arden in view \nIPR2031-00417\nPatent 9,876,501 B2\n\n12\n"
        f"of Brisk. {DEFINED}", [("1-4", "103", "Arden Brisk")], AB),
    "a header that every page repeats": Form(
        "\nOakmere’s Patent Papers\n".join(["", "One.", "Two.", "Three.", "Claims 1–4 would have been obvious over "
                                              "Arden in view of\n\n12", f"Brisk. {DEFINED}"]),
        [("1-4", "103", "Arden Brisk")], AB),
    "a petition's page header": Form(
        "Ground 1: Claims 1–4 are obvious over Arden in view of\nPetition for Inter Partes Review of U.S. Patent No. "
        f"9,876,501\n\n14\n\nBrisk. {DEFINED}", [("1-4", "103", "Arden Brisk")], AB),
    "et al.": Form(
        "Claims 1–3 would have been obvious over Arden et al. in view of Cole et al. "
        "Arden et al., U.S. Patent No. 7,310,001 (Ex. 1005). U.S. Patent No. 6,210,003 to Cole et al. (Ex. 1007).",
        [("1-3", "103", "Arden Cole")], {**A, **C}),

    # --- petitions --------------------------------------------------------------------------------
    "ground with a verb": Form(
        "Ground 1: Claims 1-5 are anticipated by Arden. Ground 2: Claims 6–9 are obvious over Arden in view of "
        f"Brisk. {DEFINED}", [("1-5", "102", "Arden"), ("6-9", "103", "Arden Brisk")], AB),
    "ground without a verb": Form(
        f"Ground 1: § 102, Arden, claims 1–5\nGround 2: § 103, Arden and Cole, claims 6–9\n{DEFINED}",
        [("1-5", "102", "Arden"), ("6-9", "103", "Arden Cole")], {**A, **C}),
    "ground with dashes": Form(
        f"Ground I – Claims 1–5 – § 103 – Arden and Brisk\nGround II – Claim 6 – § 103 – Cole\n{DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Cole")], ABC),
    "ground with the number beside the name": Form(
        "Ground 1: Claims 1–3 are obvious over U.S. Patent No. 7,310,001 to Arden (“Arden,” Ex. 1005) in view of "
        "U.S. Pub. No. 2009/0410002 to Brisk et al. (“Brisk,” Ex. 1006).",
        [("1-3", "103", "Arden Brisk")], AB),
    "ground that names a number alone": Form(
        "Ground 1: Claims 1–3 are anticipated by U.S. Patent No. 7,310,001 under § 102(b).",
        [("1-3", "102", "U.S. Patent No. 7,310,001")], {"U.S. Patent No. 7,310,001": "7310001"}),
    "grounds with letters": Form(
        f"Ground 1A: Claims 1-5 are obvious over Arden. Ground 1B: Claims 1-5 are obvious over Arden and Brisk. {DEFINED}",
        [("1-5", "103", "Arden"), ("1-5", "103", "Arden Brisk")], AB),
    "table of contents": Form(
        "TABLE OF CONTENTS\n`VII. GROUND 1: CLAIMS 1-4 ARE OBVIOUS OVER ARDEN ................ 14\n`VIII. GROUND 2: "
        f"CLAIM 5 IS OBVIOUS OVER ARDEN IN VIEW OF COLE ......... 31\n`{DEFINED}",
        [("1-4", "103", "ARDEN"), ("5", "103", "ARDEN COLE")], {"ARDEN": "7310001", "COLE": "6210003"}),
    "a name behind the exhibit": Form(
        "Claims 1–5 are obvious over Arden, Ex. 1005, in view of Brisk, Ex. 1006. Ex. 1005 is U.S. Patent No. "
        "7,310,001 to Arden. Ex. 1006 is U.S. Patent Pub. No. 2009/0410002 to Brisk.",
        [("1-5", "103", "Arden Brisk")], AB),

    # --- definitions ------------------------------------------------------------------------------
    "turned round, in quotes": Form(
        "Claims 1–5 are anticipated by Arden. “Arden” (Ex. 1005) is U.S. Patent No. 7,310,001 B2.",
        [("1-5", "102", "Arden")], A),
    "turned round, in a footnote": Form(
        "Claims 1–5 are anticipated by Arden.3 3 Arden, U.S. Patent No. 7,310,001 B2, issued May 6, 2008 (Ex. 1005).",
        [("1-5", "102", "Arden")], A),
    "in brackets behind the name": Form(
        "Claims 1–5 are obvious over Arden (U.S. Patent No. 7,310,001; Ex. 1005) and Cole (US 6,210,003).",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "hereinafter": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 (hereinafter “Arden”) was filed in 2004.",
        [("1-5", "102", "Arden")], A),
    "behind a title in quotes": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001, titled “Latch for Doors,” issued May 6, "
        "2008 (“Arden”).", [("1-5", "102", "Arden")], A),
    "the exhibit in brackets of its own": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 B2 (Ex. 1005) (“Arden”).",
        [("1-5", "102", "Arden")], A),
    "an old table of the evidence": Form(
        "Claims 1–5 are unpatentable over Arden and Cole under 35 U.S.C. § 103(a). Evidence: Arden US 7,310,001 "
        "May 6, 2008 Ex. 1005 Cole US 6,210,003 Apr. 3, 2001 Ex. 1007",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "a table of the evidence with a header": Form(
        "Claims 1–5 are unpatentable over Arden and Brisk under § 103(a). Name Reference Exhibit Arden U.S. Patent No. "
        "7,310,001 B2 issued May 6, 2008 1005 Brisk U.S. Patent Application Publication No. 2009/0410002 A1 1006",
        [("1-5", "103", "Arden Brisk")], AB),
    "quotes of two signs": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 (Ex. 1005, “Arden’’).",
        [("1-5", "102", "Arden")], A),
    "dates in brackets of their own": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 B2 (issued May 6, 2008) (Ex. 1005) (“Arden”).",
        [("1-5", "102", "Arden")], A),
    "a continuation of another": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001, a continuation of U.S. Patent No. 6,900,001 "
        "(Ex. 1005, “Arden”).", [("1-5", "102", "Arden")], A),
    "priority of a provisional": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001, claiming priority to U.S. Provisional "
        "Application No. 60/310,001, filed May 6, 2004 (Ex. 1005, “Arden”).", [("1-5", "102", "Arden")], A),
    "two numbers and one name": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent Nos. 7,310,001 and 7,310,009 (Ex. 1005, “Arden”).",
        [("1-5", "102", "Arden")], {"Arden": "7310001 7310009"}),
    "a name of two people": Form(
        "Claims 1–5 are obvious over Arden and Lund in view of Cole. U.S. Patent No. 7,310,001 (“Arden and Lund”). "
        f"{COLE}.", [("1-5", "103", "Arden and Lund,Cole")], {"Arden and Lund": "7310001", **C}),
    "a full name": Form(
        "Claims 1–5 are anticipated by Arden. Ex. 1005, U.S. Patent No. 7,310,001 to Jane Q. Arden.",
        [("1-5", "102", "Arden")], A),
    "a name with its number": Form(
        "Claims 1–5 are obvious over Arden ’001 in view of Arden ’002. U.S. Patent No. 7,310,001 (“Arden ’001”). "
        "U.S. Patent No. 7,310,002 (“Arden ’002”).",
        [("1-5", "103", "Arden '001,Arden '002")], {"Arden '001": "7310001", "Arden '002": "7310002"}),
    "a reference called by its number": Form(
        "Claims 1–5 are anticipated by the ’001 patent. U.S. Patent No. 7,310,001 (Ex. 1005, “the ’001 patent”).",
        [("1-5", "102", "'001 patent")], {"'001 patent": "7310001"}),
    "a name of two words": Form(
        "Claims 1–5 are obvious over Van Arden and Quent Manual. U.S. Patent No. 7,310,001 (“Van Arden”).",
        [("1-5", "103", "Van Arden,Quent Manual")], {"Van Arden": "7310001"},
        {"Quent Manual": "no definition of the name"}),
    "defined in another document": Form(
        "Claims 1–5 would have been obvious over Arden and Brisk. Both are discussed in the Petition.",
        [("1-5", "103", "Arden Brisk")], AB, more=(f"Petition. {DEFINED}",)),
    "a later document states other grounds": Form(
        f"Claims 1–5 would have been obvious over Arden. {DEFINED}", [("1-5", "103", "Arden")], A,
        more=(f"Petition. Claims 1–5 are obvious over Brisk. {DEFINED}",)),
    "nothing but a broken text layer": Form(
        "ÿ!# \"ÿ# ÿ$ ÿ&'((ÿ" * 30 + "Claims 1–5 are anticipated by Brisk.", [("1-5", "102", "Arden")], A,
        more=(f"Claims 1–5 are anticipated by Arden. {DEFINED}",)),

    # --- numbers ----------------------------------------------------------------------------------
    "a reissue": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Reissue Patent No. RE38,001 E (Ex. 1005, “Arden”).",
        [("1-5", "102", "Arden")], {"Arden": "RE38001"}),
    "a design": Form(
        "Claim 1 is anticipated by Arden. U.S. Design Patent No. D612,001 S (Ex. 1005, “Arden”).",
        [("1", "102", "Arden")], {"Arden": "D612001"}),
    "a publication that lacks a zero": Form(
        "Claims 1–5 are anticipated by Brisk. US-2009410002-A1 (Ex. 1006, “Brisk”).",
        [("1-5", "102", "Brisk")], B),
    "numbers without commas": Form(
        "Claims 1–5 are obvious over Arden and Brisk. US7310001B2 (“Arden”); US20090410002A1 (“Brisk”).",
        [("1-5", "103", "Arden Brisk")], AB),
    "an application as a reference": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent Application No. 10/310,001 (Ex. 1005, “Arden”).",
        [("1-5", "102", "Arden")], {"Arden": "10310001"}),
    "an eight-digit patent": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 10,310,001 B2 (Ex. 1005, “Arden”).",
        [("1-5", "102", "Arden")], {"Arden": "10310001"}),

    # --- losses -----------------------------------------------------------------------------------
    "foreign": Form(
        "Claims 1–5 are obvious over Arden, Ito, Weiss, and Lund. U.S. Patent No. 7,310,001 (“Arden”). Japanese "
        "Unexamined Patent Application Publication No. H07-310001 (Ex. 1008, “Ito”). DE 10 2004 031 001 A1 "
        "(“Weiss”). International Publication No. WO 2004/031001 A1 (Ex. 1009, “Lund”).",
        [("1-5", "103", "Arden Ito Weiss Lund")], A, {"Ito": "foreign", "Weiss": "foreign", "Lund": "foreign"}),
    "a foreign number in the form of ours": Form(
        "Claims 1–5 are obvious over Ito in view of Wei. European Patent No. 1,310,001 B1 (“Ito”). Chinese Patent "
        "Application Publication No. 2004/0031001 (“Wei”).",
        [("1-5", "103", "Ito Wei")], {}, {"Ito": "foreign", "Wei": "foreign"}),
    "no patent": Form(
        "Claims 1–5 are obvious over Arden and Moss. U.S. Patent No. 7,310,001 (“Arden”). Ivy Moss, On Latches, 7 "
        "J. DOORS 31 (2001) (Ex. 1010, “Moss”).",
        [("1-5", "103", "Arden Moss")], A, {"Moss": "no patent"}),
    "an article beside a patent of one author": Form(
        "Claims 1–5 are obvious over Arden Article. Ivy Arden, On Latches (2001) (Ex. 1010, “Arden Article”). "
        f"{ARDEN}.", [("1-5", "103", "Arden Article")], {}, {"Arden Article": "no patent"}),
    "an article that a patent cites": Form(
        "Claims 1–5 are anticipated by Moss. U.S. Patent No. 7,310,001 cites an article by Moss (Ex. 1010, “Moss”).",
        [("1-5", "102", "Moss")], {}, {"Moss": "no patent"}),
    "provisional": Form(
        "Claims 1–5 are anticipated by Kerr. U.S. Provisional Application No. 60/310,001 (Ex. 1011, “Kerr”).",
        [("1-5", "102", "Kerr")], {}, {"Kerr": "provisional"}),
    "a reexamination": Form(
        "Claims 1–5 are anticipated by Kerr. Reexamination Control No. 90/310,001 (Ex. 1011, “Kerr”).",
        [("1-5", "102", "Kerr")], {}, {"Kerr": "reexamination"}),
    "ambiguous": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 (“Arden”). Elsewhere: U.S. Patent No. "
        "7,310,009 (“Arden”).", [("1-5", "102", "Arden")], {"Arden": "7310001 7310009"}),
    "several at once": Form(
        "Claims 1–5 are obvious over Arden in view of Cole. U.S. Patent Nos. 7,310,001 and 6,210,003 (Ex. 1005, "
        "“Arden”; Ex. 1007, “Cole”).",
        [("1-5", "103", "Arden Cole")], {"Arden": "6210003 7310001", "Cole": "6210003 7310001"}),
    "a weaker definition of another number": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 (“Arden”). Background: Ex. 1020, U.S. Patent "
        "No. 7,310,777 to Arden.", [("1-5", "102", "Arden")], A),
    "the patent owner's exhibit": Form(
        "Claims 1–5 are obvious over Quent (Ex. 2005). Ex. 2005 is U.S. Patent No. 7,010,203 to Vance.",
        [("1-5", "103", "Quent")], {}, {"Quent": "no definition of the name"}),
    "the petitioner's exhibit": Form(
        "Claims 1–5 are obvious over Quent (Ex. 1005). Ex. 1005 is U.S. Patent No. 7,310,001 to Vance.",
        [("1-5", "103", "Quent")], {"Quent": "7310001"}),
    "never defined": Form(
        f"Claims 1–5 are obvious over Arden and Quent. {ARDEN}.",
        [("1-5", "103", "Arden Quent")], A, {"Quent": "no definition of the name"}),
    "the challenged patent named as a reference": Form(
        "Claims 1–5 are obvious over the ’501 patent and Arden. U.S. Patent No. 9,876,501 (Ex. 1003, “the ’501 "
        f"patent”). {ARDEN}.",
        [("1-5", "103", "'501 patent,Arden")], A, {"'501 patent": "same application or family"}),

    # --- what is no ground ------------------------------------------------------------------------
    "the examiner's rejection": Form(
        f"The Examiner rejected claims 1–5 as obvious over Arden in view of Brisk. {DEFINED}", []),
    "another trial": Form(
        f"In IPR2030-01234, we held claims 1–5 unpatentable as anticipated by Arden. {DEFINED}", []),
    "another patent": Form(
        f"Petitioner showed that claims 1–5 of the ’777 patent are anticipated by Arden. {DEFINED}", []),
    "another patent by its number": Form(
        f"Claims 1–5 of U.S. Patent No. 8,000,777 are anticipated by Arden. {DEFINED}", []),
    "the patent owner's own case": Form(
        f"Patent Owner contends that claims 1–5 would have been obvious over Arden only by hindsight. {DEFINED}", []),
    "related matters": Form(
        "C. Related Matters There is one. The Board held claims 1–5 unpatentable as anticipated by Arden. D. Evidence "
        f"{DEFINED}", []),
    "a court": Form(
        f"The district court found claims 1–5 invalid as anticipated by Arden. {DEFINED}", []),
    "a list of exhibits": Form(
        "Exhibit List 1005 U.S. Patent No. 7,310,001 to Arden 1006 U.S. Patent No. 6,210,003 to Cole 2001 U.S. Patent "
        "No. 7,010,203", []),
    "no reference behind the verb": Form(
        f"Claims 1–5 would have been obvious over the prior art of record, 35 U.S.C. § 103. {DEFINED}", []),
    "the law": Form(
        "A claim is anticipated under 35 U.S.C. § 102 if one reference has every element; a claim is obvious under "
        f"§ 103 over what is known. {DEFINED}", []),
    "only a §112 ground": Form(
        f"Petitioner contends that claims 1–5 are unpatentable under 35 U.S.C. § 112 as indefinite. {DEFINED}", [],
        left_out=("112",)),
    "numbers of a machine": Form(
        f"The arm 102 turns about 5, 103 and the hinge 103 Arden shows at 12. {DEFINED}", []),
    "the technology": Form(
        f"Arden describes claims handling; 1–5, Brisk at column 103, line 7. See {ARDEN}.", []),

    # --- what stands where a name must, and can't be read -------------------------------------------
    "a name that is a word of decisions, and undefined": Form(
        f"Claims 1–5 would have been obvious over Arden and Table. {DEFINED}",
        [("1-5", "103", "Arden Table")], A, {"Table": "name not read"}),
    "a last name that the text layer broke": Form(
        f"Claims 1–5 would have been obvious over Arden in view of |ones. {DEFINED}",
        [("1-5", "103", "Arden |ones")], A, {"|ones": "name not read"}),
    "a name amid others that the text layer broke": Form(
        f"Claims 1–5 would have been obvious over Arden, \ufffdones, and Cole. {DEFINED}",
        [("1-5", "103", "Arden,\ufffdones,Cole")], {**A, **C}, {"\ufffdones": "name not read"}),
    "a first name that begins with a digit": Form(
        f"Claims 1–5 would have been obvious over 5mith in view of Cole. {DEFINED}",
        [("1-5", "103", "5mith Cole")], C, {"5mith": "name not read"}),
    "a list that is cut behind in view of": Form(
        f"Claims 1–5 would have been obvious over Arden in view of. Pet. 12. {DEFINED}",
        [("1-5", "103", "Arden,in view of")], A, {"in view of": "name not read"}),
    "a broken name in a table's cell": Form(
        f"Claims 35 U.S.C. § References 1–5 103 Arden, |ones 6 103 Cole {DEFINED}",
        [("1-5", "103", "Arden |ones"), ("6", "103", "Cole")], {**A, **C}, {"|ones": "name not read"}),
    "a name broken by a blank": Form(
        f"Claims 1–5 would have been obvious over Arden and C ole. {DEFINED}",
        [("1-5", "103", "Arden,C")], A, {"C": "name not read"}),
    "a defined name that lost its capital": Form(
        f"Claims 1–5 would have been obvious over Arden in view of cole. {DEFINED}",
        [("1-5", "103", "Arden,cole")], A, {"cole": "name not read"}),
    "a digit inside a name": Form(
        f"Claims 1–5 would have been obvious over Arden in view of C0le. {DEFINED}",
        [("1-5", "103", "Arden,C0le")], A, {"C0le": "no definition of the name"}),
    "a standard without its issuer": Form(
        f"Claims 1–5 are obvious over Arden in view of 802.11b and Cole. {DEFINED}",
        [("1-5", "103", "Arden,802.11b,Cole")], {**A, **C}, {"802.11b": "name not read"}),
    "a given name before a defined surname loses neither, but is told": Form(
        f"Claims 1–5 would have been obvious over Arden and Mary Cole. {DEFINED}",
        [("1-5", "103", "Arden Mary Cole")], {**A, **C}, {"Mary": "no definition of the name"}),

    # --- lists that end: an artisan's knowledge is no reference, admitted prior art is one that is no patent ---
    "a skilled artisan's knowledge ends a list": Form(
        "Claims 1–5 would have been obvious over Arden and further in view of the knowledge of a skilled "
        f"artisan. {DEFINED}", [("1-5", "103", "Arden")], A),
    "general knowledge in a heading ends a list": Form(
        "Ground 1: Claims 1–5 Are Obvious over Arden in View of the General Knowledge of a POSITA. "
        f"{DEFINED}", [("1-5", "103", "Arden")], A),
    "knowledge in capitals ends a list": Form(
        "GROUND 1: CLAIMS 1–5 ARE OBVIOUS OVER ARDEN AND THE KNOWLEDGE OF A PERSON OF ORDINARY SKILL\n"
        f"{DEFINED}", [("1-5", "103", "ARDEN")], {"ARDEN": "7310001"}),
    "exhibits, and a POSITA's knowledge at the end": Form(
        "Petitioner contends claims 1–5 are unpatentable over Arden (Ex. 1005), Brisk (Ex. 1006), and the "
        f"knowledge of a POSITA. Pet. 3. {DEFINED}", [("1-5", "", "Arden Brisk")], AB),
    "admitted prior art at the end": Form(
        f"Claims 1–5 would have been obvious over Arden, Brisk, and the admitted prior art. {DEFINED}",
        [("1-5", "103", "Arden,Brisk,admitted prior art")], AB, {"admitted prior art": "no patent"}),
    "an applicant's admitted prior art": Form(
        f"Claims 1–5 would have been obvious over Arden in view of Applicant’s Admitted Prior Art. {DEFINED}",
        [("1-5", "103", "Arden,Applicant's Admitted Prior Art")], A,
        {"Applicant's Admitted Prior Art": "no patent"}),
    "common sense ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden in view of common sense. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "a POSA's skill ends a list": Form(
        "Claims 1–5 would have been obvious over Arden in combination with the skill of a POSA, and "
        f"therefore fall. {DEFINED}", [("1-5", "103", "Arden")], A),
    "design choice ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden and ordinary design choice. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "a name behind an artisan's knowledge": Form(
        "Claims 1–5 would have been obvious over Arden in view of the background knowledge of an "
        f"ordinarily skilled artisan and Cole. {DEFINED}", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "knowledge as a reference shows it": Form(
        "Claims 1–5 would have been obvious over Arden and the knowledge of a POSITA, as evidenced by "
        f"Cole. {DEFINED}", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "the next ground ends a list": Form(
        "Claims 1–5 would have been obvious over Arden and claim 6 would have been obvious over Cole, and "
        f"Patent Owner does not dispute it. {DEFINED}",
        [("1-5", "103", "Arden"), ("6", "103", "Cole")], {**A, **C}),
    "the Petitioner ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden, and Petitioner has shown it. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "the Patent Owner ends a list": Form(
        "Claims 1–5 would have been obvious over Arden, and Patent Owner does not argue otherwise. "
        f"{DEFINED}", [("1-5", "103", "Arden")], A),
    "a witness ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden, and Dr. Quill agrees. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "a numbered table ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden, and Table 2 shows it. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "we end a list": Form(
        f"Claims 1–5 would have been obvious over Arden and we so hold. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "a numbered section ends a list": Form(
        f"Claims 1–5 would have been obvious over Arden and, as Section II.B says, over Cole. {DEFINED}",
        [("1-5", "103", "Arden")], A),
    "a motivation in a heading ends a list": Form(
        "1. Obviousness of Claims 1–5 over Arden and Brisk and Motivation to Combine\nPetitioner points to "
        f"both. {DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "alone or in combination, and nothing more": Form(
        f"Claims 1–5 would have been obvious over Arden, alone or in combination. {DEFINED}",
        [("1-5", "103", "Arden")], A),

    # --- numbers that the text layer damaged --------------------------------------------------------
    "letters in a patent's number": Form(
        "Claims 1–5 are obvious over Arden and Cole. U.S. Patent No. 7,3l0,00l (Ex. 1005, “Arden”). U.S. "
        "Patent No. 6,210,003 (Ex. 1007, “Cole”).",
        [("1-5", "103", "Arden Cole")], C, {"Arden": "damaged number"}),
    "a letter in a publication's year": Form(
        "Claims 1–5 are obvious over Brisk. U.S. Patent Application Publication No. 20O9/0410002 A1 (Ex. "
        "1006, “Brisk”).", [("1-5", "103", "Brisk")], {}, {"Brisk": "damaged number"}),
    "a letter at a publication's end": Form(
        "Claims 1–5 are obvious over Brisk. U.S. Patent Application Publication No. 2009/041000B A1 (Ex. "
        "1006, “Brisk”).", [("1-5", "103", "Brisk")], {}, {"Brisk": "damaged number"}),
    "a letter in a number turned round": Form(
        "Claims 1–5 are obvious over Arden. “Arden” (Ex. 1005) is US 7,31O,001 B2.",
        [("1-5", "103", "Arden")], {}, {"Arden": "damaged number"}),
    "a letter in a number of the ground itself": Form(
        f"Ground 1: Claims 1–3 are obvious over U.S. Patent No. 7,3I0,001 to Arden in view of Cole. {COLE}.",
        [("1-3", "103", "Arden Cole")], C, {"Arden": "damaged number"}),
    "full stops in a number": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7.310.001 (Ex. 1005, “Arden”).",
        [("1-5", "103", "Arden")], {}, {"Arden": "damaged number"}),
    "a letter in a number without commas": Form(
        "Claims 1–5 are obvious over Arden. US73l0001B2 (Ex. 1005, “Arden”).",
        [("1-5", "103", "Arden")], {}, {"Arden": "damaged number"}),
    "a damaged number that stands there whole too": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,00l (Ex. 1005, “Arden”). In the list: "
        "U.S. Patent No. 7,310,001 (“Arden”).", [("1-5", "103", "Arden")], A),
    "a damaged number and another whole one": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,00l (Ex. 1005, “Arden”). In the list: "
        "U.S. Patent No. 7,310,009 (“Arden”).", [("1-5", "103", "Arden")], {"Arden": "7,310,00l 7310009"}),
    "a letter in the kind code alone": Form(
        "Claims 1–5 are obvious over Arden and Brisk. US7,310,001Bl (Ex. 1005, “Arden”). US 2009/0410002 "
        "Al (Ex. 1006, “Brisk”).", [("1-5", "103", "Arden Brisk")], AB),

    # --- definitions elsewhere ----------------------------------------------------------------------
    "a name that related matters define otherwise": Form(
        "A. Related Matters Petitioner names a suit on U.S. Patent No. 7,999,001 (“Arden”). B. Grounds "
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,001 (Ex. 1005, “Arden”).",
        [("1-5", "103", "Arden")], A),
    "related matters in capitals": Form(
        "II. RELATED MATTERS\nU.S. Patent No. 7,999,001 (“Arden”) is at issue in a suit.\nIII. "
        "GROUNDS\nClaims 1–5 are obvious over Arden. Arden, U.S. Patent No. 7,310,001.",
        [("1-5", "103", "Arden")], A),
    "related matters without a number": Form(
        "Related Matters\nU.S. Patent No. 7,999,001 (“Arden”) is at issue in a suit.\nD. Evidence\nClaims "
        "1–5 are obvious over Arden. Arden, U.S. Patent No. 7,310,001.", [("1-5", "103", "Arden")], A),
    "a name that the patent owner's exhibit has too": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,001 (Ex. 1005, “Arden”). Patent Owner’s "
        "Exhibits: U.S. Patent No. 7,999,001 (Ex. 2005, “Arden”).", [("1-5", "103", "Arden")], A),
    "a name that only the patent owner's exhibit has": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,999,001 (Ex. 2005, “Arden”).",
        [("1-5", "103", "Arden")], {}, {"Arden": "no definition of the name"}),
    "a proper definition in another document": Form(
        "A. Related Matters U.S. Patent No. 7,999,001 (“Arden”) is at issue. B. Grounds Claims 1–5 are "
        "obvious over Arden.", [("1-5", "103", "Arden")], A, more=(f"Petition. {DEFINED}",)),

    # --- more tables --------------------------------------------------------------------------------
    "a table with bars": Form(
        "Challenged Claims | 35 U.S.C. § | Reference(s)\n1–5 | § 103(a) | Arden, Brisk\n6 | § 103(a) | "
        f"Arden, Brisk, Cole\n{DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Arden Brisk Cole")], ABC),
    "a table with bars and numbers": Form(
        "| Ground | Claims | Basis | References |\n| 1 | 1–5 | § 102(a)(1) | Arden |\n| 2 | 6, 7 | § 103 | "
        f"Arden and Brisk |\n{DEFINED}", [("1-5", "102", "Arden"), ("6,7", "103", "Arden Brisk")], AB),
    "rows over lines": Form(
        "Claims Challenged\n35 U.S.C. §\nReference(s)/Basis\n1–3, 5, 7, 9–\n12\n103(a)\nArden, Brisk,\nand "
        f"Cole\n13\n103(a)\nArden\n{DEFINED}",
        [("1-3,5,7,9-12", "103", "Arden Brisk Cole"), ("13", "103", "Arden")], ABC),
    "a page header between rows": Form(
        "Claims 35 U.S.C. § References 1–5 102(b) Arden\n\nIPR2031-00417\nPatent 9,876,501 B2\n\n7\n\n6, 7 "
        f"103(a) Arden, Cole\n{DEFINED}",
        [("1-5", "102", "Arden"), ("6,7", "103", "Arden Cole")], {**A, **C}),
    "the table of a conclusion": Form(
        f"{DEFINED} In summary: Claim(s) 35 U.S.C. § Reference(s)/ Basis Claim(s) Shown Unpatentable "
        "Claim(s) Not Shown Unpatentable 1–5, 7 103(a) Arden, Brisk 1–5 7 8 103(a) Cole 8 Overall Outcome "
        "1–5, 8 7", [("1-5,7", "103", "Arden Brisk"), ("8", "103", "Cole")], ABC),
    "a conclusion with a footnote": Form(
        f"{DEFINED} Claims 35 U.S.C. § Reference(s)/Basis Claims Shown Unpatentable Claims Not Shown "
        "Unpatentable 1–5 103 Arden, Brisk 1–5 6–8 103 Arden, Brisk, Cole1 6–8 Overall Outcome 1–5 6–8 1 "
        "As explained above, we do not reach it.",
        [("1-5", "103", "Arden Brisk"), ("6-8", "103", "Arden Brisk Cole")], ABC),
    "a ground that was not reached": Form(
        f"{DEFINED} Claims 35 U.S.C. § Reference(s)/Basis Claims Shown Unpatentable Claims Not Shown "
        "Unpatentable 1–5 103 Arden 1–5 6–8 1032 Arden, Brisk 9 103 Cole 9 2 Because claims 6–8 fall, we "
        "do not reach this ground.",
        [("1-5", "103", "Arden"), ("6-8", "103", "Arden Brisk"), ("9", "103", "Cole")], ABC),
    "semicolons in a cell": Form(
        "Claims Challenged 35 U.S.C. § References 1–5 103(a) Arden; Brisk 6 103(a) Arden; Brisk; Cole "
        f"{DEFINED}", [("1-5", "103", "Arden Brisk"), ("6", "103", "Arden Brisk Cole")], ABC),
    "strokes and signs in a cell": Form(
        f"Claims Challenged 35 U.S.C. § References 1–5 103(a) Arden/Brisk 6 103(a) Arden + Cole {DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Arden Cole")], ABC),
    "numbered grounds, the statute first": Form(
        f"Ground Statute Reference(s) Claims 1 § 102(b) Arden 1–5 2 § 103(a) Arden and Brisk 6–8 {DEFINED}",
        [("1-5", "102", "Arden"), ("6-8", "103", "Arden Brisk")], AB),
    "a column of grounds that are statutes": Form(
        f"Claims Ground References 1–5 § 103(a) Arden, Brisk 6 § 103(a) Arden, Brisk, Cole {DEFINED}",
        [("1-5", "103", "Arden Brisk"), ("6", "103", "Arden Brisk Cole")], ABC),
    "claims joined by and in rows": Form(
        "Claims Challenged 35 U.S.C. § Reference(s) 1–5 and 7–9 103 Arden 6 and 10 103 Arden and Cole "
        f"{DEFINED}", [("1-5,7-9", "103", "Arden"), ("6,10", "103", "Arden Cole")], {**A, **C}),

    # --- more sentences -----------------------------------------------------------------------------
    "footnotes of names in a sentence": Form(
        f"Claims 1–5 would have been obvious over Arden1 in view of Brisk.2 1 {ARDEN}. 2 {BRISK}.",
        [("1-5", "103", "Arden Brisk")], AB),
    "raised digits": Form(
        f"Claims 1–5 would have been obvious over Arden¹ and Brisk². ¹ {ARDEN}. ² {BRISK}.",
        [("1-5", "103", "Arden Brisk")], AB),
    "signs of footnotes": Form(
        f"Claims 1–5 would have been obvious over Arden† and Brisk*. † {ARDEN}. * {BRISK}.",
        [("1-5", "103", "Arden Brisk")], AB),
    "names in quotes": Form(
        f"Claims 1–5 would have been obvious over “Arden” in view of “Brisk.” {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "a title in quotes": Form(
        f"Claims 1–5 are obvious over Arden in view of “Latches for Doors.” {DEFINED}",
        [("1-5", "103", "Arden,Latches for Doors")], A, {"Latches for Doors": "no definition of the name"}),
    "Ground 2B": Form(
        f"Ground 2B: Claims 6 and 7 are rendered obvious by the combination of Arden and Cole. {DEFINED}",
        [("6,7", "103", "Arden Cole")], {**A, **C}),
    "in the alternative over": Form(
        "Claims 1–5 are unpatentable under 35 U.S.C. § 103 over Arden, or, in the alternative, over Arden "
        f"in view of Brisk. {DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "alone as one ground, in combination as another": Form(
        "Claims 1–5 are obvious over Arden alone (Ground 1) or in combination with Brisk (Ground 2). "
        f"{DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "and/or": Form(
        f"Claims 1, 2, and/or 5 are obvious over Arden and/or Cole. {DEFINED}",
        [("1,2,5", "103", "Arden Cole")], {**A, **C}),
    "et al. in a list": Form(
        f"Claims 1–3 are obvious over Arden et al., Brisk et al., and Cole et al. under § 103. {DEFINED}",
        [("1-3", "103", "Arden Brisk Cole")], ABC),
    "apostrophes and hyphens in names": Form(
        "Claims 1–5 are obvious over O’Dell in view of D’Arcy-Lunde. U.S. Patent No. 7,310,001 (Ex. 1005, "
        "“O’Dell”). U.S. Patent No. 6,210,003 (Ex. 1007, “D’Arcy-Lunde”).",
        [("1-5", "103", "O'Dell,D'Arcy-Lunde")], {"O'Dell": "7310001", "D'Arcy-Lunde": "6210003"}),
    "a hyphenated name over two lines": Form(
        "Claims 1–5 are obvious over Fenn-\nWick. U.S. Patent No. 7,310,001 (Ex. 1005, “Fenn-Wick”).",
        [("1-5", "103", "Fenn-Wick")], {"Fenn-Wick": "7310001"}),
    "a name over two lines": Form(
        f"Claims 1–5 are obvious over Ar-\nden in view of Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "letters of other tongues": Form(
        "Claims 1–5 are obvious over Müller and Åkesson. U.S. Patent No. 7,310,001 (Ex. 1005, “Müller”). "
        "U.S. Patent No. 6,210,003 (Ex. 1007, “Åkesson”).",
        [("1-5", "103", "Müller Åkesson")], {"Müller": "7310001", "Åkesson": "6210003"}),
    "an initial": Form(
        f"Claims 1–5 would have been obvious over Arden in view of J. Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "exhibits for names": Form(
        f"Claims 1–5 would have been obvious over Ex. 1005 in view of Ex. 1007. {DEFINED}",
        [("1-5", "103", "Ex. 1005,Ex. 1007")], {"Ex. 1005": "7310001", "Ex. 1007": "6210003"}),
    "a number for a name that nothing defines": Form(
        f"Claims 1–5 would have been obvious over Arden and the ’777 publication. {DEFINED}",
        [("1-5", "103", "Arden,'777 publication")], A, {"'777 publication": "no definition of the name"}),
    "a country and a number for a name": Form(
        f"Claims 1–5 are obvious over Arden and JP ’512. {DEFINED} Japanese Patent Publication No. JP "
        "2001-310512 (Ex. 1013, “JP ’512”).", [("1-5", "103", "Arden,JP '512")], A, {"JP '512": "foreign"}),
    "an office and a number, first": Form(
        f"Claims 1–5 are obvious over WO ’001 in view of Arden. {DEFINED} PCT Publication No. WO "
        "2004/031001 (Ex. 1013, “WO ’001”).", [("1-5", "103", "WO '001,Arden")], A, {"WO '001": "foreign"}),
    "a handbook": Form(
        f"Claims 1–5 are obvious over Arden in view of the Quentin Handbook. {DEFINED} Quentin Labs, "
        "Handbook of Latches (3d ed. 2003) (Ex. 1012, “Quentin Handbook”).",
        [("1-5", "103", "Arden,Quentin Handbook")], A, {"Quentin Handbook": "no patent"}),
    "a phrase before the name": Form(
        f"Claims 1–5 would have been obvious over Arden in view of the well-known hinge of Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "with, and, renders unpatentable": Form(
        "The combination of Arden with Brisk and Cole renders claims 1, 4, and 7–9 unpatentable as "
        f"obvious. {DEFINED}", [("1,4,7-9", "103", "Arden Brisk Cole")], ABC),
    "primary and secondary reference": Form(
        "Ground 3: Claims 10–12 are unpatentable under 35 U.S.C. § 103 as obvious over Arden as the "
        f"primary reference, in view of Brisk as the secondary reference. {DEFINED}",
        [("10-12", "103", "Arden Brisk")], AB),
    "the primary reference before its name": Form(
        "Claims 1–5 are obvious over the primary reference Arden in combination with the secondary "
        f"reference Cole. {DEFINED}", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "numbered grounds in one sentence": Form(
        "Petitioner asserts the following grounds: (1) claims 1–3 under § 102(b) as anticipated by Arden; "
        "(2) claims 4–6 under § 103(a) as obvious over Arden and Brisk; and (3) claims 7–9 under § 103(a) "
        f"as obvious over Arden, Brisk, and Cole. {DEFINED}",
        [("1-3", "102", "Arden"), ("4-6", "103", "Arden Brisk"), ("7-9", "103", "Arden Brisk Cole")], ABC),
    "numbered references": Form(
        f"Claims 1–5 would have been obvious over (1) Arden and (2) Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "plus signs and a statute in brackets": Form(
        f"Ground 1 (claims 1–5): Arden + Brisk (§ 103). {DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "statute and names in brackets": Form(
        "Ground 1: Claims 1–5 (§ 103, Arden in view of Brisk)\nGround 2: Claim 6 (§ 102(b), Cole)\n"
        f"{DEFINED}", [("1-5", "103", "Arden Brisk"), ("6", "102", "Cole")], ABC),
    "when combined with": Form(
        f"Each of claims 1–3 and 8 is obvious over Arden when combined with Cole. {DEFINED}",
        [("1-3,8", "103", "Arden Cole")], {**A, **C}),
    "would have rendered": Form(
        "Petitioner argues that Arden, as modified by Brisk, would have rendered claims 1–5 obvious. "
        f"{DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "the disclosures of": Form(
        f"Claims 1–5 would have been obvious over the disclosures of Arden and Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "an order to institute": Form(
        "ORDERED that inter partes review is instituted on the following grounds: claims 1–3 under 35 "
        "U.S.C. § 103(a) as unpatentable over Arden and Brisk; and claim 4 under 35 U.S.C. § 103(a) as "
        f"unpatentable over Arden, Brisk, and Cole. {DEFINED}",
        [("1-3", "103", "Arden Brisk"), ("4", "103", "Arden Brisk Cole")], ABC),
    "points of a list": Form(
        "We institute on these grounds: • Claims 1–3 as obvious over Arden and Brisk • Claim 4 as obvious "
        f"over Arden, Brisk, and Cole. {DEFINED}",
        [("1-3", "103", "Arden Brisk"), ("4", "103", "Arden Brisk Cole")], ABC),
    "names in brackets behind the claims": Form(
        f"4. Ground 4: Obviousness of Claim 9 (Arden and Cole)\nPetitioner says so. {DEFINED}",
        [("9", "103", "Arden Cole")], {**A, **C}),
    "claims in brackets behind the name": Form(
        f"B. Ground 1 – Alleged Obviousness over Arden (Claims 1–5 and 8)\nWe turn to it. {DEFINED}",
        [("1-5,8", "103", "Arden")], A),
    "a heading in capitals with the statute": Form(
        f"GROUND 1 – CLAIMS 1-5 ARE UNPATENTABLE UNDER 35 U.S.C. § 103(A) OVER ARDEN AND COLE\n{DEFINED}",
        [("1-5", "103", "ARDEN COLE")], {"ARDEN": "7310001", "COLE": "6210003"}),
    "35 USC 103": Form(
        f"Claims 1–5 are unpatentable under 35 USC 103 over Arden. {DEFINED}", [("1-5", "103", "Arden")], A),
    "Section 103": Form(
        f"Claims 1–5 are unpatentable under Section 103 over Arden. {DEFINED}", [("1-5", "103", "Arden")], A),
    "a name with I and II": Form(
        "Claims 1–5 are obvious over Arden I in view of Arden II. U.S. Patent No. 7,310,001 (Ex. 1005, "
        "“Arden I”). U.S. Patent No. 6,210,003 (Ex. 1007, “Arden II”).",
        [("1-5", "103", "Arden I,Arden II")], {"Arden I": "7310001", "Arden II": "6210003"}),
    "all claims": Form(
        f"All claims 1–20 are obvious in light of Arden combined with Brisk. {DEFINED}",
        [("1-20", "103", "Arden Brisk")], AB),
    "names in one word before the verb": Form(
        f"The Arden-Brisk combination renders claims 1–5 obvious. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "three names in one word": Form(
        f"Claims 1–5 are obvious over the Arden-Brisk-Cole combination. {DEFINED}",
        [("1-5", "103", "Arden Brisk Cole")], ABC),
    "or both": Form(
        f"Claims 1–5 are obvious over Arden in view of Brisk, Cole, or both. {DEFINED}",
        [("1-5", "103", "Arden Brisk Cole")], ABC),
    "the one's patent, the other's publication": Form(
        f"Claims 1–5 are obvious over the Arden patent in view of the Brisk publication. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "each of": Form(
        f"Claims 1–5 would have been obvious over each of Arden, Brisk, and Cole. {DEFINED}",
        [("1-5", "103", "Arden Brisk Cole")], ABC),
    "at least": Form(
        f"Claims 1–5 are obvious over at least Arden in view of at least Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "with or without": Form(
        f"Claims 1–5 are obvious over Arden with or without Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "inter alia": Form(
        f"Claims 1–5 are obvious over, inter alia, Arden and Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "as modified in view of": Form(
        "Claims 1–5 would have been obvious over Arden as modified in view of the teachings of Cole. "
        f"{DEFINED}", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "each anticipates": Form(
        f"Petitioner argues Arden and Cole each anticipates claim 3. {DEFINED}",
        [("3", "102", "Arden Cole")], {**A, **C}),
    "possessives in a list": Form(
        "Claims 1–5 are unpatentable because they would have been obvious over Arden’s latch, Brisk’s "
        f"spring, and Cole’s lid. {DEFINED}", [("1-5", "103", "Arden Brisk Cole")], ABC),
    "a page between two names": Form(
        "Claims 1–5 would have been obvious over Arden and\n\f\nIPR2031-00417\nPatent 9,876,501 "
        f"B2\n\n17\nCole. {DEFINED}", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "the number of a page between dashes": Form(
        f"Claims 1–5 would have been obvious over Arden in view of\n\n- 14 -\n\nCole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "the number of a page": Form(
        f"Claims 1–5 would have been obvious over Arden in view of\n\n14\n\nCole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "its own number for the trial": Form(
        f"In the ’417 IPR, Petitioner asserts that claims 1–5 are obvious over Arden and Cole. {DEFINED}",
        [("1-5", "103", "Arden Cole")], {**A, **C}),

    # --- more definitions ---------------------------------------------------------------------------
    "numbers and names in the ground": Form(
        "Claims 1–5 are obvious over U.S. Patent No. 7,310,001 (“Arden”) in view of U.S. Patent No. "
        "6,210,003 (“Cole”).", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "an exhibit and a dash": Form(
        "Claims 1–5 are obvious over Arden. Exhibit 1005 – U.S. Pat. No. 7,310,001 (“Arden”)",
        [("1-5", "103", "Arden")], A),
    "US Patent and no comma": Form(
        "Claims 1–5 are obvious over Arden. US Patent 7310001 to Arden (Ex. 1005).",
        [("1-5", "103", "Arden")], A),
    "United States Patent Number": Form(
        "Claims 1–5 are obvious over Arden. United States Patent Number 7,310,001 (Ex. 1005, “Arden”).",
        [("1-5", "103", "Arden")], A),
    "U.S. and a number": Form(
        "Claims 1–5 are obvious over Arden. Arden: U.S. 7,310,001 (Ex. 1005).", [("1-5", "103", "Arden")], A),
    "a publication in one word": Form(
        "Claims 1–5 are obvious over Brisk. U.S. Publication No. US20090410002A1 (Ex. 1006, “Brisk”).",
        [("1-5", "103", "Brisk")], B),
    "Pat. App. Pub.": Form(
        "Claims 1–5 are obvious over Brisk. US Pat. App. Pub. 2009/0410002 (Ex. 1006; “Brisk”).",
        [("1-5", "103", "Brisk")], B),
    "Pre-Grant Publication without a zero": Form(
        "Claims 1–5 are anticipated by Brisk. U.S. Pre-Grant Publication No. 2009/410002 (Ex. 1006, "
        "“Brisk”).", [("1-5", "102", "Brisk")], B),
    "Published Patent Application": Form(
        "Claims 1–5 are anticipated by Brisk. U.S. Published Patent Application 2009/0410002 A1 to Brisk "
        "et al. (Ex. 1006) (“Brisk”).", [("1-5", "102", "Brisk")], B),
    "Appl. Pub. No. US": Form(
        "Claims 1–5 are anticipated by Brisk. U.S. Patent Appl. Pub. No. US 2009/0410002 A1 (published "
        "Oct. 1, 2009) (Ex. 1006, hereinafter “Brisk”).", [("1-5", "102", "Brisk")], B),
    "from an application": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,001 (issued Dec. 18, 2007, from App. No. "
        "10/123,456, filed May 3, 2004) (Ex. 1005, “Arden”).", [("1-5", "103", "Arden")], A),
    "which issued as": Form(
        "Claims 1–5 are obvious over Brisk. U.S. Patent Application Publication No. 2009/0410002 A1 (Ex. "
        "1006, “Brisk”), which issued as U.S. Patent No. 8,111,222.", [("1-5", "103", "Brisk")], B),
    "filed, issued, assigned": Form(
        "Claims 1–5 are obvious over Arden. U.S. Patent No. 7,310,001 B1 to Arden et al., filed Mar. 1, "
        "2001, issued May 2, 2006, assigned to Vexley Corp. (Ex. 1005).", [("1-5", "103", "Arden")], A),
    "a footnote with the inventor": Form(
        "Claims 1–5 are obvious over Arden.4\nWe agree.\n4 U.S. Patent No. 7,310,001 B2, issued Dec. 18, "
        "2007, to Jane Arden (“Arden”) (Ex. 1005).", [("1-5", "103", "Arden")], A),
    "the name inside the number's bracket": Form(
        "Claims 1–5 are obvious over Arden. Ex. 1005 (U.S. Patent No. 7,310,001, “Arden”) and Ex. 1007 "
        "(U.S. Patent No. 6,210,003, “Cole”) are relied on.", [("1-5", "103", "Arden")], A),
    "two names of one number": Form(
        "Claims 1–5 are anticipated by Arden. U.S. Patent No. 7,310,001 (“Arden” or “the ’001 patent”) "
        "(Ex. 1005).", [("1-5", "102", "Arden")], A),

    # --- more that is no ground ---------------------------------------------------------------------
    "another trial's decision in a citation": Form(
        "See Vexley Corp. v. Oakmere LLC, IPR2029-00222, Paper 9 at 4 (finding claims 1–3 obvious over "
        f"Arden). {DEFINED}", []),
    "the patent owner against it": Form(
        f"Patent Owner argues that claims 1–5 are not obvious over Arden in view of Brisk. {DEFINED}", []),
    "the ITC": Form(
        f"The ITC found claims 1–5 invalid as obvious over Arden and Cole. {DEFINED}", []),
    "a judge of the Commission": Form(
        "The International Trade Commission’s Administrative Law Judge held claims 1–5 obvious over Arden. "
        f"{DEFINED}", []),
    "the parent application": Form(
        f"During prosecution of the parent application, claims 1–5 were found obvious over Arden. {DEFINED}",
        []),
    "an Office action": Form(
        "A first Office action of May 3, 2014, rejected claims 1–5 as obvious over Arden and Brisk. "
        f"{DEFINED}", []),
    "what an applicant overcame": Form(
        f"The applicant overcame obviousness of claims 1–5 over Arden by amendment. {DEFINED}", []),
    "substitute claims": Form(
        f"Proposed substitute claims 21–25 are not obvious over Arden. {DEFINED}", []),
    "the patent owner's expert": Form(
        f"Patent Owner’s expert says claims 1–5 would not have been obvious over Arden and Brisk. {DEFINED}",
        []),
    "a court's case": Form(
        f"In Kellner Co. v. Brightwell, the court held claims 1–5 obvious over Arden. {DEFINED}", []),
    "a figure's numbers": Form(
        f"Figure 103 shows Arden, claims 1–5 of which recite a latch. {DEFINED}", []),
    "the reference's own claims": Form(
        f"Claims 1–5 of Arden anticipate a later patent to Brisk. {DEFINED}", []),
    "exhibits and a statute": Form(
        "Ex. 1005 U.S. Patent No. 7,310,001 (“Arden”) Ex. 1006 U.S. 2009/0410002 (“Brisk”) Ex. 1020 35 "
        "U.S.C. § 103 memo", []),
    "a companion proceeding": Form(
        f"In the companion proceeding, claims 1–5 were held unpatentable over Arden. {DEFINED}", []),
    "another patent, whose claims": Form(
        f"The ’777 patent, whose claims 1–5 were obvious over Arden, is not at issue. {DEFINED}", []),
    "a declaration in reexamination": Form(
        f"Dr. Quill’s declaration in reexamination of claims 1–5 speaks of obviousness over Arden. {DEFINED}",
        []),
    "what the petitioner does not contend": Form(
        f"Petitioner does not contend that claims 1–5 are anticipated by Cole. {DEFINED}", []),
    "contentions in a court": Form(
        "Petitioner’s invalidity contentions in Texas assert that claims 1–5 are obvious over Arden and "
        f"Cole. {DEFINED}", []),
    "another trial by its last digits": Form(
        f"The petition in the ’999 IPR asserted that claims 1–5 are obvious over Arden. {DEFINED}", []),
    "another trial without an apostrophe": Form(
        f"In the 999 IPR, claims 1–5 were held obvious over Arden and Cole. {DEFINED}", []),
    "a priority date": Form(
        f"Claims 1–5 are entitled to an earlier date than Brisk. {DEFINED}", []),
    "a condition": Form(
        f"A claim would have been obvious over Arden in view of Brisk only if a reason is shown. {DEFINED}",
        []),
    "a notice of allowance": Form(
        f"In its Notice of Allowance the Office said that claims 1–5 are not anticipated by Arden. {DEFINED}",
        []),
    "an earlier decision": Form(
        f"In an earlier decision we held claims 1–5 of the ’333 patent unpatentable over Arden. {DEFINED}",
        []),
    "a European counterpart": Form(
        f"The Opposition Division found claims 1–5 of the European counterpart obvious over Cole. {DEFINED}",
        []),

    # --- still more tables --------------------------------------------------------------------------
    "a header again on the next page": Form(
        "Claims 35 U.S.C. § References 1–3 103 Arden\n\fIPR2031-00417\nPatent 9,876,501 B2\n9\nClaims 35 "
        f"U.S.C. § References 4, 5 103 Arden, Brisk\n{DEFINED}",
        [("1-3", "103", "Arden"), ("4,5", "103", "Arden Brisk")], AB),
    "a name of two words over lines": Form(
        "Claims 35 U.S.C. § References\n1–3\n103(a)\nVan\nArden\n4\n103(a)\nCole\nU.S. Patent No. "
        f"7,310,001 (Ex. 1005, “Van Arden”). {COLE}.",
        [("1-3", "103", "Van Arden"), ("4", "103", "Cole")], {"Van Arden": "7310001", **C}),
    "grounds with Roman numbers": Form(
        f"Ground Claim(s) 35 U.S.C. § Reference(s) I 1–3 103 Arden II 4 103 Arden, Cole {DEFINED}",
        [("1-3", "103", "Arden"), ("4", "103", "Arden Cole")], {**A, **C}),
    "a column of prior art with exhibits": Form(
        "Ground Claims Statute Prior Art 1 1–3 § 103(a) Arden (Ex. 1005), Brisk (Ex. 1006) 2 4 § 103(a) "
        f"Cole (Ex. 1007) {DEFINED}", [("1-3", "103", "Arden Brisk"), ("4", "103", "Cole")], ABC),
    "statutes over lines": Form(
        "Claims\nStatute\nReferences\n1–3\n35 U.S.C.\n§ 103(a)\nArden\nand\nBrisk\n4\n35 U.S.C.\n§ "
        f"102(b)\nCole\n{DEFINED}", [("1-3", "103", "Arden Brisk"), ("4", "102", "Cole")], ABC),
    "long lists of claims": Form(
        "Claims 35 U.S.C. § Reference(s) 1–5, 7–10, 12–15, and 17–20 103(a) Arden, Brisk 6, 11, 16 103(a) "
        f"Arden, Brisk, Cole {DEFINED}",
        [("1-5,7-10,12-15,17-20", "103", "Arden Brisk"), ("6,11,16", "103", "Arden Brisk Cole")], ABC),
    "outcomes that differ within a ground": Form(
        f"{DEFINED} Claims 35 U.S.C. § Reference(s)/ Basis Claims Shown Unpatentable Claims Not shown "
        "Unpatentable 1, 2, 4 102 Arden 1, 2 4 3, 5 103 Arden, Brisk 3, 5 Overall Outcome 1–3, 5 4",
        [("1,2,4", "102", "Arden"), ("3,5", "103", "Arden Brisk")], AB),
    "admitted prior art last in a cell": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–5 103 Arden, AAPA 6 103 Cole {DEFINED}",
        [("1-5", "103", "Arden AAPA"), ("6", "103", "Cole")], {**A, **C}, {"AAPA": "no patent"}),
    "a broken sign in a cell's last name": Form(
        f"Claims 35 U.S.C. § Reference(s) 1–5 103 Arden, ¢ole 6 103 Cole {DEFINED}",
        [("1-5", "103", "Arden,¢ole"), ("6", "103", "Cole")], {**A, **C}, {"¢ole": "name not read"}),
    "knowledge last in a cell": Form(
        "Claims 35 U.S.C. § Reference(s) 1–5 103 Arden and General Knowledge 6 103 Cole and POSITA’s "
        f"Knowledge {DEFINED}", [("1-5", "103", "Arden"), ("6", "103", "Cole")], {**A, **C}),
    "Day and Light in a table": Form(
        "Claims 35 U.S.C. § Reference(s) 1–5 103 Day 6 103 Day, Light U.S. Patent No. 7,310,001 (Ex. 1005, "
        "“Day”); U.S. Patent No. 6,210,003 (Ex. 1007, “Light”).",
        [("1-5", "103", "Day"), ("6", "103", "Day Light")], {"Day": "7310001", "Light": "6210003"}),

    # --- still more sentences -----------------------------------------------------------------------
    "a second ground without a verb": Form(
        "Petitioner asserts obviousness of claims 1–5 over Arden and of claims 6–8 over Arden and Cole. "
        f"{DEFINED}", [("1-5", "103", "Arden"), ("6-8", "103", "Arden Cole")], {**A, **C}),
    "a second ground with its statute alone": Form(
        "Petitioner challenges claims 1–3 under § 102(b) over Arden, and claims 4 and 5 under § 103(a) "
        f"over Arden and Brisk. {DEFINED}", [("1-3", "102", "Arden"), ("4,5", "103", "Arden Brisk")], AB),
    "by itself or in combination": Form(
        f"Claims 1–5 are obvious over Arden by itself or in combination with Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "in light of Light": Form(
        "Claims 1–5 are obvious over Day in light of Light. U.S. Patent No. 7,310,001 (Ex. 1005, “Day”); "
        "U.S. Patent No. 6,210,003 (Ex. 1007, “Light”).",
        [("1-5", "103", "Day Light")], {"Day": "7310001", "Light": "6210003"}),
    "In Light of Light in a heading": Form(
        "A. Obviousness of Claims 1–5 In Light of Light\nWe agree. U.S. Patent No. 6,210,003 (Ex. 1007, "
        "“Light”).", [("1-5", "103", "Light")], {"Light": "6210003"}),
    "a reference called Case": Form(
        "Claims 1–5 are anticipated by Case. U.S. Patent No. 7,310,001 (Ex. 1005, “Case”). Case "
        "IPR2031-00417.", [("1-5", "102", "Case")], {"Case": "7310001"}),
    "a reference called Wells": Form(
        "Claims 1–5 are obvious over Arden and Wells. U.S. Patent No. 6,210,003 (Ex. 1007, “Wells”). "
        f"{ARDEN}.", [("1-5", "103", "Arden Wells")], {**A, "Wells": "6210003"}),
    "an undefined May": Form(
        f"Claims 1–5 are obvious over Arden and May. {ARDEN}.",
        [("1-5", "103", "Arden May")], A, {"May": "name not read"}),
    "a date in May ends a list": Form(
        f"Claims 1–5 are obvious over Arden and May 5, 2008, is its date. {ARDEN}.",
        [("1-5", "103", "Arden")], A),
    "a standard with its issuer": Form(
        f"Claims 1–5 are obvious over Arden and GSM 03.64. {ARDEN}.",
        [("1-5", "103", "Arden,GSM")], A, {"GSM": "no definition of the name"}),
    "a request for comments": Form(
        f"Claims 1–5 are obvious over Arden and RFC 2616. {ARDEN}. Hypertext Transfer (Ex. 1012, “RFC "
        "2616”).", [("1-5", "103", "Arden,RFC 2616")], A, {"RFC 2616": "no patent"}),
    "et al. with numbers in brackets": Form(
        "Claims 1–5 are obvious over Arden et al. (US 7,310,001) in view of Cole et al. (US 6,210,003).",
        [("1-5", "103", "Arden Cole")], {**A, **C}),
    "a possessive without an s": Form(
        "Claims 1–5 are obvious over Jones’ hinge and Cole’s lid. U.S. Patent No. 7,310,001 (Ex. 1005, "
        f"“Jones”). {COLE}.", [("1-5", "103", "Jones Cole")], {"Jones": "7310001", **C}),
    "long headings of two grounds": Form(
        "1. Ground 1: Claims 1–3 and 5 Are Unpatentable Under 35 U.S.C. § 103(a) as Obvious Over Arden in "
        "View of Brisk\n2. Ground 2: Claim 4 Is Unpatentable Under 35 U.S.C. § 103(a) as Obvious Over "
        f"Arden in View of Brisk and Cole\n{DEFINED}",
        [("1-3,5", "103", "Arden Brisk"), ("4", "103", "Arden Brisk Cole")], ABC),
    "a table of contents over lines": Form(
        "Ground 1: Claims 1–3 Are Obvious Over Arden and\nBrisk ......................................... "
        f"14\nGround 2: Claim 4 Is Obvious Over Arden, Brisk, and\nCole ............ 31\n{DEFINED}",
        [("1-3", "103", "Arden Brisk"), ("4", "103", "Arden Brisk Cole")], ABC),
    "an order that names the patent": Form(
        "ORDERED that claims 1–5 of U.S. Patent No. 9,876,501 B2 are unpatentable as obvious over Arden "
        f"and Brisk. {DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "claims of the challenged patent": Form(
        f"Claims 1–5 of the ’501 patent would have been obvious over Arden and Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "the teachings of a number": Form(
        "Claims 1–5 of the ’501 patent are obvious over Arden in view of the teachings of U.S. Patent No. "
        f"6,210,003 to Cole. {ARDEN}.", [("1-5", "103", "Arden Cole")], {**A, **C}),
    "in view of a patent called by its number": Form(
        "Claims 1–5 are obvious over Arden in view of the ’003 patent. U.S. Patent No. 6,210,003 (Ex. "
        f"1007, “the ’003 patent”). {ARDEN}.",
        [("1-5", "103", "Arden,'003 patent")], {**A, "'003 patent": "6210003"}),
    "Ground 1, a dash, Obviousness, brackets": Form(
        f"Ground 1. Claims 1–5 – Obviousness over Arden in View of Brisk (35 U.S.C. § 103)\n{DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "a Roman ground with an active verb": Form(
        f"i. Ground 1: Arden in view of Brisk renders obvious claims 1–5\n{DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "Challenge #1": Form(
        f"Challenge #1: Claims 1–5 are obvious under 35 U.S.C. § 103 over Arden in view of Brisk\n{DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "Count 1": Form(
        f"Count 1: Claims 1–5 are anticipated by Arden under 35 U.S.C. §102(e)\n{DEFINED}",
        [("1-5", "102", "Arden")], A),
    "modified by": Form(
        f"Claims 1–5 are obvious over Arden modified by Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "a stroke between names": Form(
        f"Claims 1–5 would have been obvious over Arden/Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "renders unpatentable under a statute": Form(
        "The combination of Arden and Brisk renders claims 1–5 unpatentable under 35 U.S.C. § 103(a). "
        f"{DEFINED}", [("1-5", "103", "Arden Brisk")], AB),
    "invalid in view of": Form(
        f"Claims 1–5 are invalid under 35 U.S.C. § 102 in view of Arden. {DEFINED}",
        [("1-5", "102", "Arden")], A),
    "obviousness based on": Form(
        f"Obviousness of claims 1–5 based on Arden and Brisk. {DEFINED}",
        [("1-5", "103", "Arden Brisk")], AB),
    "102 and/or 103": Form(
        f"Claims 1–5 are unpatentable under 35 U.S.C. §§ 102 and/or 103 over Arden. {DEFINED}",
        [("1-5", "102 103", "Arden")], A),

    # --- still more that is no ground ---------------------------------------------------------------
    "novelty, which no verb of ours states": Form(
        f"Claims 1–5 lack novelty over Arden. {DEFINED}", []),
    "another patent's claims": Form(
        f"Petitioner’s expert conceded that the ’888 patent’s claims 1–5 are obvious over Arden. {DEFINED}",
        []),
    "an appeal": Form(
        "In Ex parte Drayton, Appeal 2029-001234, the Board affirmed that claims 1–5 were obvious over "
        f"Arden. {DEFINED}", []),
    "a trial of another type": Form(
        f"In CBM2014-00012 we found claims 1–5 obvious over Arden. {DEFINED}", []),
    "infringement": Form(
        f"A product that practises Arden would infringe claims 1–5; see 35 U.S.C. § 271. {DEFINED}", []),
    "double patenting": Form(
        f"Claims 1–5 are unpatentable for obviousness-type double patenting over Arden. {DEFINED}", []),
}
