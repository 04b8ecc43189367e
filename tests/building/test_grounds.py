"""Every form of a ground: its grounds, its golds and its losses, and nothing else."""

import re

import pytest
from litigation_forms import AFTER, BEFORE, FORMS, Form

from kit.building.asserted import Asserted, read_trial
from kit.building.document import Document


def expanded(claims: str) -> tuple[int, ...]:
    """`1-3, 5` -> 1, 2, 3, 5."""
    spans = [re.findall(r"\d+", part) for part in claims.split(",") if part]
    return tuple(n for span in spans for n in range(int(span[0]), int(span[-1]) + 1))


def read(form: Form, around: bool = True) -> tuple[Asserted, dict[str, str]]:
    """What is read of the form, and the texts of its documents."""
    first = f"{BEFORE if around else ''}{form.text}{AFTER if around else ''}"
    texts = {"source": first, **{f"other {n}": text for n, text in enumerate(form.more)}}
    documents = [Document(name, text) for name, text in texts.items()]
    return read_trial(documents, form.challenged, form.trials, form.claim_count), texts


def spelled(name: str) -> str:
    return name.replace("’", "'")


def listed(names: str, form: Form) -> list[str]:
    """`Arden Brisk` are two names, unless it is one that the form's golds or losses have."""
    if names in {**form.golds, **form.lost}:
        return [names]
    return names.split("," if "," in names else " ")


every_form = pytest.mark.parametrize("name", FORMS)
alone_and_amid_decoys = pytest.mark.parametrize("around", [False, True], ids=["alone", "amid decoys"])


def test_there_are_at_least_two_hundred_forms():
    assert len(FORMS) >= 200


@every_form
@alone_and_amid_decoys
def test_its_grounds(name, around):
    form = FORMS[name]
    found, _ = read(form, around)
    told = [(g.claims.numbers, g.statutes, [spelled(n.text) for n in g.names]) for g in found.grounds]
    assert told == [(expanded(claims), tuple(statutes.split()), listed(names, form))
                    for claims, statutes, names in form.grounds]
    assert tuple(found.left_out) == form.left_out
    assert tuple(found.doubts) == form.doubts


@every_form
@alone_and_amid_decoys
def test_its_golds_and_losses(name, around):
    form = FORMS[name]
    found, _ = read(form, around)
    lost = {spelled(r.name): r.loss for r in found.references if r.loss and len(r.candidates) < 2}
    golds = {spelled(r.name): " ".join(sorted(c.number.value for c in r.candidates))
             for r in found.references if spelled(r.name) not in lost}
    assert golds == form.golds
    assert lost == form.lost


@every_form
@alone_and_amid_decoys
def test_its_evidence_stands_where_it_says(name, around):
    found, texts = read(FORMS[name], around)
    for reference in found.references:
        assert reference.grounds
        places = [*reference.grounds, *(p for c in reference.candidates for p in (c.definition, c.place))]
        assert all(texts[p.document][p.start:p.end] == p.text and p.text.strip() == p.text for p in places)
        for candidate in reference.candidates:
            number, sentence = candidate.place, candidate.definition
            assert sentence.start <= number.start < number.end <= sentence.end
            digits = re.sub(r"\D", "", number.text)
            assert re.sub(r"\D", "", candidate.number.value).lstrip("0") in digits or "2009410002" in digits
