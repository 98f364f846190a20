"""Who gets past TLS at the webhook, and what happens when its files change."""

from __future__ import annotations

import datetime as dt
import shutil
import socket
import ssl
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from support.serving import Client, Pki, Running, Serve, eventually, request, webhook_settings
from suture.adapters.webhook import Limits, MutualTls, Peer, WebhookServer
from suture.adapters.webhooktls import CertificateError, Identity
from suture.lab.certificates import Authority, KeyPair

Server = Running[WebhookServer]


def knock(port: int, context: ssl.SSLContext) -> bytes:
    """Connect, ask, and return all that comes back."""
    received = b""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as raw,
            context.wrap_socket(raw, server_hostname="127.0.0.1") as wrapped,
        ):
            wrapped.sendall(request(headers="Connection: close\r\n"))
            while part := wrapped.recv(1000):
                received += part
    except (ssl.SSLError, ConnectionError):
        pass
    return received


def issue(
    authority: Authority, *, usage: x509.ObjectIdentifier, ended_ago_s: float = -3600.0
) -> KeyPair:
    """Issue what the lab's authority would not: an expired one, or one for another use."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
    issuer_key = serialization.load_pem_private_key(authority.key.read_bytes(), None)
    assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
    end = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=ended_ago_s)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - dt.timedelta(days=1))
        .not_valid_after(end)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    pair = KeyPair(authority.folder / "odd.crt", authority.folder / "odd.key")
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return pair


def test_only_the_right_certificate_is_answered(serve: Serve, pki: Pki) -> None:
    """No certificate, or one of another authority: the connection ends, not a byte is said."""
    called = []

    async def handle(_: str, __: bytes, peer: Peer) -> bytes:
        called.append(peer)
        return b"{}"

    with serve(handle) as server:
        port = server.server.port
        assert knock(port, pki.context(None)) == b""
        assert knock(port, pki.context(pki.stranger)) == b""
        assert called == []
        with Client(port, pki.context(pki.client)) as client:
            assert client.post().status == 200
    assert called == [Peer("127.0.0.1", "kube-apiserver", ("system:apiservers",))]


def test_expired_and_misused_certificates_are_refused(serve: Serve, own_pki: Pki) -> None:
    """The right authority is not enough: the certificate must be valid, and for clients."""
    with serve(pki=own_pki) as server:
        for usage, ended_ago_s in (
            (ExtendedKeyUsageOID.CLIENT_AUTH, 60.0),
            (ExtendedKeyUsageOID.SERVER_AUTH, -60.0),
        ):
            odd = issue(own_pki.clients, usage=usage, ended_ago_s=ended_ago_s)
            assert knock(server.server.port, own_pki.context(odd)) == b""
        sound = issue(own_pki.clients, usage=ExtendedKeyUsageOID.CLIENT_AUTH)
        assert knock(server.server.port, own_pki.context(sound)).startswith(b"HTTP/1.1 200")


def test_names_can_be_required(serve: Serve, pki: Pki) -> None:
    """Of those whom the authority signed, only the named ones are answered."""
    named = MutualTls(pki.clients.certificate, frozenset({"kube-apiserver"}))
    with serve(client_auth=named) as server:
        with Client(server.server.port, pki.context(pki.client)) as client:
            assert client.post().status == 200
        other = pki.clients.client("other", "front-proxy")
        assert knock(server.server.port, pki.context(other)) == b""
        assert server.server.strangers == 1


def test_old_tls_and_no_tls_are_refused(server: Server, pki: Pki) -> None:
    """TLS 1.2 and 1.3 are spoken, nothing below; plain HTTP gets no answer."""
    for version, spoken in ((ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
        context = pki.context(pki.client)
        context.minimum_version = context.maximum_version = version
        assert knock(server.server.port, context).startswith(b"HTTP/1.1 200") is spoken
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=5) as plain:
        plain.sendall(request())
        received = b""
        while part := plain.recv(1000):
            received += part
        assert b"HTTP" not in received  # a TLS alert at most


def test_handshakes_do_not_take_forever(serve: Serve) -> None:
    """Who connects and never begins TLS is hung up on, and holds up nobody."""
    with (
        serve(limits=Limits(handshake_s=0.2)) as server,
        socket.create_connection(("127.0.0.1", server.server.port), timeout=5) as mute,
    ):
        start = time.monotonic()
        assert mute.recv(1) == b""
        assert time.monotonic() - start < 2


def test_connections_are_bounded(serve: Serve, pki: Pki) -> None:
    """Beyond the limit a connection ends at once; when one goes there is room again."""
    with serve(limits=Limits(connections=2)) as server:
        port = server.server.port
        with Client(port, pki.context(pki.client)) as first:
            with Client(port, pki.context(pki.client)) as second:
                assert first.post().status == second.post().status == 200
                assert knock(port, pki.context(pki.client)) == b""
            eventually(lambda: server.server.connections == 1)
            with Client(port, pki.context(pki.client)) as third:
                assert third.post().status == 200


def serial(client: Client) -> int:
    der = client.socket.getpeercert(binary_form=True)
    assert der is not None
    return x509.load_der_x509_certificate(der).serial_number


def replace(pair: KeyPair, by: KeyPair) -> None:
    shutil.copy(by.key, pair.key)
    shutil.copy(by.certificate, pair.certificate)


def test_changed_certificate_is_taken_over(serve: Serve, own_pki: Pki) -> None:
    """New handshakes see the new certificate; a connection made before lives on."""
    renewed = own_pki.serving.server("renewed", ["127.0.0.1"])
    with serve(pki=own_pki, reload_s=0.05) as server:
        port, context = server.server.port, own_pki.context(own_pki.client)
        with Client(port, context) as before:
            assert before.post().status == 200
            old = serial(before)
            replace(own_pki.server, renewed)
            expected = x509.load_pem_x509_certificate(renewed.certificate.read_bytes())

            def is_renewed() -> bool:
                with Client(port, context) as after:
                    return after.post().status == 200 and serial(after) == expected.serial_number

            eventually(is_renewed)
            assert expected.serial_number != old
            assert before.post().status == 200
        assert server.server.certificate_expires == expected.not_valid_after_utc


def test_half_written_certificate_is_not_taken_over(serve: Serve, own_pki: Pki) -> None:
    """A certificate without its key changes nothing until the key has come too."""
    renewed = own_pki.serving.server("renewed", ["127.0.0.1"])
    with serve(pki=own_pki, reload_s=0.05) as server:
        port, context = server.server.port, own_pki.context(own_pki.client)

        def seen() -> int:
            with Client(port, context) as client:
                assert client.post().status == 200
                return serial(client)

        old = seen()
        for broken in (renewed.certificate.read_bytes(), b"", b"not a certificate"):
            own_pki.server.certificate.write_bytes(broken)
            time.sleep(0.2)
            assert seen() == old
        own_pki.server.certificate.unlink()
        time.sleep(0.2)
        assert seen() == old
        replace(own_pki.server, renewed)
        eventually(lambda: seen() != old)
        assert server.call(server.server.alive)


def test_changed_authority_is_taken_over(serve: Serve, own_pki: Pki) -> None:
    """When the CA file changes, whom the old one signed is out, without a restart."""
    with serve(pki=own_pki, reload_s=0.05) as server:
        port = server.server.port
        stranger, known = own_pki.context(own_pki.stranger), own_pki.context(own_pki.client)
        assert knock(port, known).startswith(b"HTTP/1.1 200")
        assert knock(port, stranger) == b""
        shutil.copy(own_pki.strangers.certificate, own_pki.clients.certificate)
        eventually(lambda: knock(port, stranger).startswith(b"HTTP/1.1 200"))
        assert knock(port, known) == b""


def test_switched_links_are_noticed(serve: Serve, own_pki: Pki, tmp_path: Path) -> None:
    """A mounted secret changes by a link to another folder; that counts as a change."""
    for number in (1, 2):
        folder = tmp_path / f"..data_{number}"
        folder.mkdir()
        pair = own_pki.serving.server(f"number-{number}", ["127.0.0.1"])
        shutil.copy(pair.certificate, folder / "tls.crt")
        shutil.copy(pair.key, folder / "tls.key")
    link = tmp_path / "..data"
    link.symlink_to(tmp_path / "..data_1")
    files = {"certificate": link / "tls.crt", "key": link / "tls.key"}
    with serve(pki=own_pki, reload_s=0.05, **files) as server:
        first = server.server.certificate_expires
        context = own_pki.context(own_pki.client)
        with Client(server.server.port, context) as client:
            old = serial(client)
        (tmp_path / "new").symlink_to(tmp_path / "..data_2")
        (tmp_path / "new").rename(link)

        def is_new() -> bool:
            with Client(server.server.port, context) as client:
                return serial(client) != old

        eventually(is_new)
        assert server.server.certificate_expires >= first


@pytest.mark.parametrize("broken", ["certificate", "key", "ca"])
def test_unusable_files_are_named(own_pki: Pki, broken: str) -> None:
    """A server does not start on files it cannot use, and says which."""
    path = {
        "certificate": own_pki.server.certificate,
        "key": own_pki.server.key,
        "ca": own_pki.clients.certificate,
    }[broken]
    path.write_text("nothing of the kind")
    settings = webhook_settings(own_pki)
    with pytest.raises(CertificateError, match=path.name):
        Identity(settings.certificate, settings.key, settings.client_auth)
    path.unlink()
    with pytest.raises(CertificateError, match=path.name):
        Identity(settings.certificate, settings.key, settings.client_auth)
