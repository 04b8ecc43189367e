"""How words are spread over documents: what the cost of search by words hangs on."""

import numpy as np
from scipy import sparse

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)  # of the documents


def spread(counts: sparse.csr_array) -> dict[str, float]:
    """Of a count matrix, documents × terms: tokens and distinct terms a document (mean, median,
    90th percentile), the terms there are, and the share of the postings (distinct terms over all
    documents) that belong to terms in more than 1, 5, 10, 20 and 50 % of the documents.
    """
    documents, terms = counts.shape
    df = np.bincount(counts.indices, minlength=terms)
    found: dict[str, float] = {"documents": documents, "terms": terms}
    for name, values in (("tokens", counts.sum(axis=1)), ("distinct", np.diff(counts.indptr))):
        found |= {f"{name} mean": float(np.mean(values)), f"{name} median": float(np.median(values)),
                  f"{name} p90": float(np.percentile(values, 90))}
    return found | {f"postings of terms in over {share:.0%}":
                    float(df[df > share * documents].sum() / max(1, counts.nnz)) for share in SHARES}
