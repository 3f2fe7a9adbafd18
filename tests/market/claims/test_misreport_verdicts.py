"""What the quick version says of misreports and payments is what the full one says."""

import pytest

from simplugin.market import mechanism_claims, misreport_claims


def verdicts(part, quick):
    return {claim.claim: claim.agrees for claim in part(quick)}


@pytest.mark.parametrize("part", [misreport_claims.misreports, misreport_claims.verification])
def test_verdicts_on_misreports(part, monkeypatch):
    # All 100 take 20 s.
    monkeypatch.setattr(misreport_claims, "TRIED", 25)
    assert verdicts(part, True) == verdicts(part, False)


def test_verdicts_on_payments(monkeypatch):
    # Whether VCG is truthful takes too long in full; it is proven.
    monkeypatch.setattr(mechanism_claims, "most_gain", lambda *_: 0.0)
    assert verdicts(mechanism_claims.vcg, True) == verdicts(mechanism_claims.vcg, False)


def test_claims_stand_alone():
    # Each is read without the one before it.
    found = [claim.claim for claim in misreport_claims.misreports(True)]
    assert all("peer" in claim and "report" in claim and ", too" not in claim for claim in found)
