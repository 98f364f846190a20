"""The definitions of policies on a cluster: what the API server itself refuses."""

from __future__ import annotations

from suture.adapters.files import read_pack
from suture.install.policies import policy_definitions


def test_the_lists_of_a_match_name_something() -> None:
    """A list that is empty matches nothing, and would switch its policy off without a word."""
    _, *constraints = policy_definitions(read_pack())
    for one in constraints:
        schema = one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        match = schema["properties"]["spec"]["properties"]["match"]["properties"]
        kinds = match["kinds"]["items"]["properties"]
        named = [match[n] for n in ("operators", "operations", "kinds", "namespaces", "names")]
        assert all(each["minItems"] == 1 for each in (*named, *kinds.values()))
        assert "minItems" not in match["excludedNamespaces"]
