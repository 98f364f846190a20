"""Fields that are called after kinds."""

from __future__ import annotations

import pytest

from suture.model.fieldnames import kinds_called, names_provider
from suture.model.names import Resource

KINDS = tuple(
    (kind, Resource("x.example.com", kind.lower()))
    for kind in (
        "AddressPool", "AppProject", "Backup", "BackupPolicy", "BackupStorageLocation", "Gateway",
        "IPAddressPool", "Instancetype", "Job", "Class",
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("project", ["AppProject"]),
        ("appProject", ["AppProject"]),
        ("projectName", ["AppProject"]),
        ("projectRef", ["AppProject"]),
        ("projectReference", ["AppProject"]),
        ("storageLocation", ["BackupStorageLocation"]),
        ("gateways", ["Gateway"]),
        ("gatewayNames", ["Gateway"]),
        ("policies", ["BackupPolicy"]),
        ("classes", ["Class"]),
        ("ipAddressPools", ["IPAddressPool"]),
        ("addressPool", ["AddressPool"]),  # just so, and not one of which it is the end
        ("pool", ["AddressPool", "IPAddressPool"]),
        ("type", []),  # a part of a word
        ("job", []),  # too short to mean anything
        ("backupStorage", []),
        ("", []),
        ("Name", []),
        ("name", []),
    ],
)
def test_a_field_is_called_after_the_last_words_of_a_kind(field: str, expected: list[str]) -> None:
    """In the singular or the plural, with or without what names of references end in."""
    assert [kind for kind, _ in kinds_called(field, KINDS)] == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("issuerRef", True),
        ("secretStoreRef", True),
        ("resourceRef", True),
        ("claimRef", False),
        ("issuer", False),
    ],
)
def test_what_provides_is_called_so(field: str, expected: bool) -> None:
    """By the word before `Ref`."""
    assert names_provider(field) is expected
