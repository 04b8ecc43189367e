"""What the cleaner's rules mean by known names: tags, attributes, codes, entities and signs."""

import re
from html.entities import html5

BLOCK_TAGS = frozenset(
    """
    address article aside blockquote body br caption center col colgroup dd details dir div dl
    dt figcaption figure footer h1 h2 h3 h4 h5 h6 head header hr html img li main nav ol p pre
    section table tbody td tfoot th thead title tr ul mspace mtable mtr mlabeledtr mtd

    abstract abst-problem abst-solution advantageous-effects amended-claims background-art
    best-mode bio-accno bio-deposit brief-description-of-drawings chemistry citation-list claim
    claim-statement claim-text claims claims-statement colspec
    cross-reference-to-related-applications depositary description description-of-drawings
    description-of-embodiments detailed-description disclosure doc-page drawings
    embodiments-example entry examples federal-research-statement heading
    industrial-applicability invention-title maths mode-for-invention non-patent-literature
    patent-literature reference-signs-list related-apps row search-report-data sequence-list
    sequence-list-text spanspec summary summary-of-invention table-external-doc tables
    tech-problem tech-solution technical-field tgroup us-chemistry us-claim-statement us-math
    us-sequence-list-doc

    action-date address-1 address-2 addressbook agent agents anum applicant applicant-name
    applicants application-reference arr article assignee assignees assistant-examiner atl
    author avail bibliographic-data bnum category child-doc citation city class
    classification-cpc classification-cpc-text classification-data-source classification-ipc
    classification-ipcr classification-level classification-locarno classification-national
    classification-scheme classification-status classification-value classifications-cpc
    classifications-ipcr combination-rank combination-set continuation continuation-in-part
    correspondence-address country county cpc-version-indicator column date
    date-of-public-availability dates-of-public-availability deceased-inventor department
    designation-of-states division doc doc-number document-id doi edition email eptags
    ep-patent-document example examiners exchange-document exchange-documents fax
    field-of-search figures first-name formula full-cycle further-classification further-cpc
    generating-office group-number hague-agreement-data id imprint ino inventor inventor-name
    inventors ipc-version-indicator iid irf issn kind last-name length-of-grant line linef linel
    location lst main-classification main-cpc main-group middle-name name number
    number-of-claims number-of-drawing-sheets number-of-figures online online-title orgname
    other-citation para paraf paral parent-doc parent-grant-document parent-pct-document
    parent-status parties parties-of-record passage patent-classification patent-classifications
    patent-family pct-or-regional-filing-data pct-or-regional-publishing-data phone postcode pp
    ppf ppl prefix primary-examiner priority-active-indicator priority-claim priority-claims
    provisional pubdate publication-reference publisher rank-number reexamination
    references-cited reissue rel-claims rel-passage related-doc related-documents
    related-publication relation residence role scheme-origination-code sdate section-title
    serial sertitle sfx snm state str street subclass subgroup substitution suffix
    symbol-position text dnum pnum adr ctry vid us-applicant us-applicants
    us-application-series-code us-bibliographic-data-application us-bibliographic-data-grant
    us-botanic us-citation us-claim-statement us-deceased-inventor us-exemplary-claim
    us-field-of-classification-search us-parties us-patent-application us-patent-grant
    us-provisional-application us-references-cited us-related-documents us-term-extension
    us-term-of-grant us-371c12-date us-371c124-date utility-model-basis wo-patent-document
    """.split()
)

INLINE_TAGS = frozenset(
    """
    a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark nobr o samp small span
    strike strong sub sub2 sup sup2 tt u var wbr claim-ref claimreference cross-reference
    crossref custom-character dp figref figurereference in-line-formulae nplcit patcit smallcaps
    annotation annotation-xml maction maligngroup malignmark math menclose merror mfenced mfrac
    mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms msqrt mstyle msub
    msubsup msup mtext munder munderover semantics
    """.split()
)

# The names of WIPO ST.32 are capitals; `B` fields (B110, B541, B510EP) are known by pattern.
SGML_BLOCK_TAGS = frozenset(
    """
    PATDOC SDOAB SDOBI SDOCL SDOCR SDODE SDODR SDOEQ SDOSR STEXT PTEXT BTEXT PARA H CL CLM CLMSTEP
    CLI CWU EMI CHEM-US CHEMCDX CHEMMOL MATH-US MATHEMATICA MATHML TABLE-US TABLE-CWU TBLREF
    BRFSUM DETDESC DRWDESC RELAPP GOVINT SEQLST-US SEQ-EMD PCIT NCIT DOC DNUM PNUM ANUM PARTY-US
    NAM TTL FNM MNM SNM SFX ONM OID IID IRF ADR STR PCODE CTRY CNTY EAD TEL FAX BNUM PDATE
    """.split()
)
SGML_INLINE_TAGS = frozenset("PDAT HIL SB SP BOLD ITALIC ULINE OLINE SMCAP CLREF FGREF F".split())

OFFICE_PREFIXES = frozenset("exch ops reg ftxt cpc com pat uscom uspat jppat wo ep epo ccd".split())
MARKUP_PREFIXES = frozenset("m mml mathml html xhtml".split())
FIELD = re.compile(r"B\d{3}(?:EP|US|WO)?")

# Markup even where nothing closes them; all other bare names could be the writer's own.
LONE_TAGS = frozenset(
    "br hr li p sub sup sub2 sup2 BR HR LI SUB SUP"
    " PATDOC SDOBI SDOAB SDODE SDOCL CL CLM PDAT".split()
)

# HTML attributes that old pages write without quotes, or without a value.
UNQUOTED = (
    "align|alt|bgcolor|border|cellpadding|cellspacing|class|clear|color|colspan|dir|face|height"
    "|href|id|lang|name|noshade|nowrap|rowspan|size|src|start|style|type|valign|value|width"
)
VALUELESS = "compact|noshade|nowrap"

# The codes of US full text between full stops; names that are also common words are left out.
DOT_CODES = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lamda": "λ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "GAMMA": "Γ", "DELTA": "Δ", "THETA": "Θ", "LAMBDA": "Λ", "XI": "Ξ", "PI": "Π",
    "SIGMA": "Σ", "UPSILON": "Υ", "PHI": "Φ", "PSI": "Ψ", "OMEGA": "Ω",
    "times": "×", "div": "÷", "+-": "±", "-+": "∓", "degree": "°", "prime": "′",
    "ltoreq": "≤", "gtoreq": "≥", "ltoreg": "≦", "gtoreg": "≧", "noteq": "≠",
    "notlessthan": "≮", "notgreaterthan": "≯", "about": "~", "apprxeq": "≈",
    "approxeq": "≈", "congruent": "≅", "ident": "≡", "ltorsim": "≲", "gtorsim": "≳",
    "infin": "∞",
    "varies": "∝", "sqroot": "√", "intg": "∫", "differential": "∂", "gradient": "∇",
    "angle": "∠", "parallel": "∥", "perp": "⊥", "andgate": "∩", "orgate": "∪",
    "thrfore": "∴", "BECAUSE": "∵", "Math": "⋅", "multidot": "·", "cndot": "·",
    "fwdarw": "→", "rarw": "←", "uparw": "↑", "dwnarw": "↓", "revreaction": "⇄",
    "dbd": "=", "tbd": "≡", "ANG": "Å", "TM": "™", "RTM": "®", "COPYRGT": "©", "sctn": "§",
    "permill": "‰", "Salinity": "‰", "dagger": "†", "dagger-dbl": "‡", "vertline": "|",
    "circle": "○", "smallcircle": "∘", "largecircle": "◯", "circleincircle": "◎",
    "circle-solid": "●", "quadrature": "□", "box-solid": "▪", "square-solid": "▪",
    "diamond-solid": "♦", "tangle-solidup": "▲", "star-solid": "★", "crclbar": "⊖",
    "asterisk-pseud": "※", "A-inverted": "∀", "E-backward": "∃", "di-elect cons": "∈",
    "left brkt-bot": "⌊", "right brkt-bot": "⌋", "left brkt-top": "⌈",
    "right brkt-top": "⌉", "Iadd": "", "Iaddend": "",
}  # fmt: skip

# The ISO Greek names of US grants from 2001 to 2004, which HTML does not know.
ISO_GREEK = {
    "agr": "α", "bgr": "β", "ggr": "γ", "dgr": "δ", "egr": "ε", "zgr": "ζ", "eegr": "η",
    "thgr": "θ", "igr": "ι", "kgr": "κ", "lgr": "λ", "mgr": "μ", "ngr": "ν", "xgr": "ξ",
    "ogr": "ο", "pgr": "π", "rgr": "ρ", "sgr": "σ", "tgr": "τ", "ugr": "υ", "phgr": "φ",
    "khgr": "χ", "psgr": "ψ", "ohgr": "ω",
}  # fmt: skip
ENTITIES = (
    {name[:-1]: sign for name, sign in html5.items() if name.endswith(";")}
    | ISO_GREEK
    | {name[:-2].upper() + "gr": sign.upper() for name, sign in ISO_GREEK.items()}
)

# What the private-use signs in US formulae show: bars, and the d, e and i of calculus.
PRIVATE_SIGNS = {
    "\ue85c": "|", "\uf603": "|", "\uf604": "|", "\uf605": "‖", "\uf606": "‖",
    "\uf74c": "d", "\uf74d": "e", "\uf74e": "i",
}  # fmt: skip
