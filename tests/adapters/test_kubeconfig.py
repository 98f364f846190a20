"""Ways in: kubeconfig files as kubectl reads them, service accounts, tokens that change, plugins."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.apiserver import PODS, ClientOf, Script, api_server, kubeconfig
from support.serving import Pki
from suture.adapters import kubeconfig as adapter
from suture.adapters.kube import KubeClient
from suture.adapters.kubeconfig import ExecAuth, ExecError, Login, LoginError, TokenFileAuth
from suture.errors import ApiError


class Gate:
    """Lets in whoever shows one of the good tokens; remembers what was shown."""

    def __init__(self, *good: str) -> None:
        self.good = set(good)
        self.shown: list[str] = []

    async def __call__(self, script: Script, writer: asyncio.StreamWriter, *_: str) -> None:
        token = script.seen[-1][2].get("authorization", [""])[0].removeprefix("Bearer ")
        self.shown.append(token)
        script.reply(writer, 200 if token in self.good else 401, {})


# ----------------------------------------------------------------- kubeconfig


async def test_certificates_may_be_inline(pki: Pki, client_of: ClientOf) -> None:
    """Certificate and key as data in the file let in as files do, and leave nothing behind."""
    peers: list[Any] = []

    async def play(script: Script, writer: asyncio.StreamWriter, *_: str) -> None:
        peers.append(writer.get_extra_info("peercert"))
        script.reply(writer, 200, {})

    user = {
        "client-certificate-data": base64.b64encode(pki.client.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(pki.client.key.read_bytes()).decode(),
    }
    async with api_server(pki, play) as script, client_of(script, user) as client:
        await client.get(PODS)
    assert (("commonName", "kube-apiserver"),) in peers[0]["subject"]


def test_files_are_relative_to_their_kubeconfig(pki: Pki, tmp_path: Path) -> None:
    """A relative certificate, key, CA and token file is looked for beside the file naming it."""
    document = json.loads(kubeconfig("https://127.0.0.1:1", pki))
    user, cluster = document["users"][0]["user"], document["clusters"][0]["cluster"]
    for holder, key in (
        (user, "client-certificate"),
        (user, "client-key"),
        (cluster, "certificate-authority"),
    ):
        (tmp_path / Path(holder[key]).name).write_bytes(Path(holder[key]).read_bytes())
        holder[key] = Path(holder[key]).name
    user["tokenFile"] = "token"
    (tmp_path / "config").write_text(yaml.safe_dump(document))
    login = Login.from_kubeconfig(tmp_path / "config")
    login.tls()
    auth = login.auth()
    assert isinstance(auth, TokenFileAuth)
    assert auth._path == tmp_path / "token"


def test_files_of_the_environment_are_merged(
    pki: Pki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several files in KUBECONFIG the first to name a thing wins; missing ones are skipped."""
    first, second = (json.loads(kubeconfig(f"https://127.0.0.1:{port}", pki)) for port in (1, 2))
    del first["users"]
    del first["current-context"]
    second["clusters"].append({"name": "two", "cluster": {"server": "https://two:2"}})
    second["contexts"].append({"name": "there", "context": {"cluster": "two", "user": "me"}})
    for name, document in (("a", first), ("b", second)):
        (tmp_path / name).write_text(json.dumps(document))
    listed = [str(tmp_path / name) for name in ("missing", "a", "b")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(["", *listed]))
    login = Login.from_kubeconfig()
    assert login.server == "https://127.0.0.1:1"
    assert login.user.client_cert == str(pki.client.certificate)
    assert Login.from_kubeconfig(context="there").server == "https://two:2"


def test_the_home_folder_is_last(pki: Pki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path and without KUBECONFIG it is the file in the home folder."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(LoginError, match=r"\.kube/config"):
        Login.from_kubeconfig()
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(kubeconfig("https://home:1", pki))
    assert Login.from_kubeconfig().server == "https://home:1"


def changed(pki: Pki, **parts: Any) -> str:
    return json.dumps(json.loads(kubeconfig("https://x:1", pki)) | parts)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"current-context": "nowhere"}, "'nowhere' not found"),
        ({"current-context": None}, "No current context"),
        ({"contexts": [{"name": "here", "context": {"cluster": "no"}}]}, "lacks or misspells 'no'"),
        ({"contexts": [{"name": "here", "context": {"user": "me"}}]}, "cluster"),
        ({"contexts": 7}, "lacks or misspells"),
        ({"clusters": [{"name": "one", "cluster": {"server": "ftp://x"}}]}, "not an http"),
        ({"clusters": [{"name": "one", "cluster": {"server": "x:1"}}]}, "not an http"),
        ({"clusters": [{"name": "one", "cluster": {"server": 7}}]}, "lacks or misspells"),
    ],
)
def test_mistakes_in_a_kubeconfig_are_named(
    pki: Pki, tmp_path: Path, parts: dict[str, Any], message: str
) -> None:
    """Each mistake is an error of the input with the words to mend it, never a traceback."""
    path = tmp_path / "config"
    path.write_text(changed(pki, **parts))
    with pytest.raises(LoginError, match=message):
        Login.from_kubeconfig(path)


@pytest.mark.parametrize("content", ["", "[1", "just text", "\x00"])
def test_what_is_no_kubeconfig_is_said(tmp_path: Path, content: str) -> None:
    """A file of something else is told as such."""
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(LoginError, match="kubeconfig"):
        Login.from_kubeconfig(path)


def test_certificates_that_cannot_be_used_are_said(pki: Pki, tmp_path: Path) -> None:
    """A missing or broken certificate is an error of the input."""
    path = tmp_path / "config"
    for user in (
        {"client-certificate": str(tmp_path / "no.crt"), "client-key": str(tmp_path / "no.key")},
        {"client-certificate": str(path), "client-key": str(path)},
        {"client-certificate-data": "bm9uc2Vuc2U=", "client-key-data": "bm9uc2Vuc2U="},
    ):
        path.write_text(kubeconfig("https://x:1", pki, user))
        with pytest.raises(LoginError, match="cannot be used"):
            Login.from_kubeconfig(path).tls()


def test_old_auth_providers_are_refused(pki: Pki, tmp_path: Path) -> None:
    """What Kubernetes removed is named, with what to use now."""
    path = tmp_path / "config"
    path.write_text(kubeconfig("https://x:1", pki, {"auth-provider": {"name": "gcp"}}))
    with pytest.raises(LoginError, match="use an exec plugin"):
        KubeClient.from_kubeconfig(path)


async def test_passwords_are_sent(pki: Pki, client_of: ClientOf) -> None:
    """Basic authentication, which some proxies before API servers want, works."""
    gate = Gate()
    user = {"username": "u", "password": "p"}
    async with api_server(pki, gate) as script, client_of(script, user) as client:
        with pytest.raises(ApiError):
            await client.get(PODS)
    assert gate.shown == ["Basic dTpw"]


@pytest.mark.parametrize(
    ("host", "trusted"),
    [("127.0.0.1", False), ("[::1]", False), ("localhost", False), ("10.0.0.1", True)],
)
def test_proxies_are_not_for_this_machine(
    pki: Pki, tmp_path: Path, host: str, trusted: bool
) -> None:
    """A proxy in the environment is used for clusters elsewhere, never for one on loopback."""
    path = tmp_path / "config"
    path.write_text(kubeconfig(f"https://{host}:6443", pki))
    assert Login.from_kubeconfig(path).trust_env is trusted


# ----------------------------------------------------------------- in cluster


async def test_in_cluster_token_is_read_again_when_refused(
    pki: Pki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rotated token is taken over after the first 401, within the same call."""
    gate = Gate("old")
    async with api_server(pki, gate) as script:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(script.port))
        (tmp_path / "ca.crt").write_bytes(pki.serving.certificate.read_bytes())
        (tmp_path / "namespace").write_text("suture-system")
        token = tmp_path / "token"
        token.write_text("old\n")
        login = Login.in_cluster(tmp_path)
        assert login.namespace == "suture-system"
        async with KubeClient(login) as client:
            await client.get(PODS)
            gate.good = {"new"}
            token.write_text("new\n")
            await client.get(PODS)
            await client.get(PODS)
            gate.good = set()
            with pytest.raises(ApiError, match="401"):
                await client.get(PODS)
            token.unlink()  # while the volume is being remounted: what is known is kept
            gate.good = {"new"}
            await client.get(PODS)
    # Not asked twice with one token: the last but one 401 had nothing newer to offer.
    assert gate.shown == ["old", "old", "new", "new", "new", "new"]


async def test_token_is_read_again_before_it_ends(
    pki: Pki, client_of: ClientOf, tmp_path: Path
) -> None:
    """After a minute the file is looked at, without waiting for a refusal."""
    gate = Gate("old", "new")
    token = tmp_path / "token"
    token.write_text("old")
    user = {"tokenFile": str(token)}
    async with api_server(pki, gate) as script, client_of(script, user) as client:
        await client.get(PODS)
        token.write_text("new")
        await client.get(PODS)
        auth = client._pools.calls.auth
        assert isinstance(auth, TokenFileAuth)
        auth._read_at -= adapter.TOKEN_REREAD_S
        await client.get(PODS)
    assert gate.shown == ["old", "old", "new"]


async def test_a_missing_token_file_is_said(pki: Pki, client_of: ClientOf, tmp_path: Path) -> None:
    """Without any token there is an error of the input that names the file."""
    user = {"tokenFile": str(tmp_path / "no-token")}
    async with api_server(pki, Gate()) as script, client_of(script, user) as client:
        with pytest.raises(LoginError, match="no-token"):
            await client.get(PODS)


def test_out_of_cluster_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a pod the error says so."""
    with pytest.raises(LoginError, match="not in a pod"):
        Login.in_cluster(tmp_path)
    (tmp_path / "namespace").write_text("n")
    (tmp_path / "token").write_text("t")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(LoginError, match="not in a pod"):
        Login.in_cluster(tmp_path)


# -------------------------------------------------------------------- plugins


def plugin(tmp_path: Path, code: str, **fields: Any) -> dict[str, Any]:
    """Return a user whose credentials come from a program of these lines."""
    program = tmp_path / "plugin"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{code}\n")
    program.chmod(0o755)
    return {
        "exec": {"apiVersion": ExecAuth.VERSIONS[0], "command": "./plugin", "args": ["a b"]}
        | fields
    }


COUNTING = """
with open(sys.argv[0] + ".runs", "a+") as runs:
    runs.write("x")
    count = runs.tell()
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["kind"] == "ExecCredential" and info["spec"]["interactive"] is False
assert sys.argv[1:] == ["a b"] and os.environ["EXTRA"] == "1" and not sys.stdin.read()
print(json.dumps({"apiVersion": info["apiVersion"], "kind": "ExecCredential",
                  "status": {"token": f"token-{count}"} | EXPIRES}))
"""
EXTRA = [{"name": "EXTRA", "value": "1"}]


@pytest.mark.parametrize("version", ExecAuth.VERSIONS)
async def test_plugin_runs_once_and_again_when_refused(
    pki: Pki, client_of: ClientOf, tmp_path: Path, version: str
) -> None:
    """Many calls at once run the plugin once; a 401 runs it once more, also for many."""
    gate = Gate("token-1")
    user = plugin(tmp_path, COUNTING.replace("EXPIRES", "{}"), env=EXTRA, apiVersion=version)
    async with api_server(pki, gate) as script, client_of(script, user) as client:
        await asyncio.gather(*(client.get(PODS) for _ in range(10)))
        gate.good = {"token-2"}
        await asyncio.gather(*(client.get(PODS) for _ in range(10)))
    assert (tmp_path / "plugin.runs").read_text() == "xx"
    assert gate.shown[:10] == ["token-1"] * 10
    assert gate.shown[-1] == "token-2"


async def test_plugin_runs_again_when_its_token_ends(
    pki: Pki, client_of: ClientOf, tmp_path: Path
) -> None:
    """A token near its end is not used; one with an hour to go is."""
    gate = Gate("token-1", "token-2", "token-3")
    near = "{'expirationTimestamp': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + (5 if count == 1 else 3600)))}"
    user = plugin(tmp_path, COUNTING.replace("EXPIRES", near), env=EXTRA)
    async with api_server(pki, gate) as script, client_of(script, user) as client:
        for _ in range(3):
            await client.get(PODS)
    assert gate.shown == ["token-1", "token-2", "token-2"]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("sys.exit('please log in first')", ExecError, "ended with 1: please log in first"),
        ("print('{}')", ExecError, "printed no ExecCredential"),
        ("print('hello')", ExecError, "printed no ExecCredential"),
        (
            "print(json.dumps({'status': {'clientCertificateData': 'x', 'clientKeyData': 'y'}}))",
            LoginError,
            "gave no token",
        ),
    ],
)
async def test_plugins_that_fail_are_quoted(
    *,
    pki: Pki,
    client_of: ClientOf,
    tmp_path: Path,
    code: str,
    error: type[Exception],
    message: str,
) -> None:
    """What a plugin complains of reaches the person."""
    user = plugin(tmp_path, code)
    async with api_server(pki, Gate()) as script, client_of(script, user) as client:
        with pytest.raises(error, match=message):
            await client.get(PODS)
        assert script.seen == []


async def test_plugins_that_are_missing_or_unknown_are_named(
    pki: Pki, client_of: ClientOf, tmp_path: Path
) -> None:
    """A plugin that is not installed is named with its install hint; an unknown API is refused."""
    user = plugin(tmp_path, "", command="no-such-plugin", installHint="get it at x")
    async with api_server(pki, Gate()) as script, client_of(script, user) as client:
        with pytest.raises(LoginError, match=r"`no-such-plugin` cannot be started.*get it at x"):
            await client.get(PODS)
        old = plugin(tmp_path, "", apiVersion="client.authentication.k8s.io/v1alpha1")
        with pytest.raises(LoginError, match=r"speaks `client\.authentication\.k8s\.io/v1alpha1`"):
            client_of(script, old)


async def test_plugins_that_hang_are_ended(pki: Pki, client_of: ClientOf, tmp_path: Path) -> None:
    """A plugin that waits for somebody ends with the call that started it."""
    user = plugin(
        tmp_path, "open(sys.argv[0] + '.pid', 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    async with api_server(pki, Gate()) as script, client_of(script, user) as client:
        with pytest.raises(Exception, match=r"not answered .* within 2 s"):
            await client.get(PODS, timeout_s=2)
    pid = int((tmp_path / "plugin.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
