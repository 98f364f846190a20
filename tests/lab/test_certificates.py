"""The lab's certificates are what Kubernetes and a strict TLS library take."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from suture.lab.certificates import Authority, KeyPair, client_context, signing_keys


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path, "cluster-ca")


def served_to(authority: Authority, server: KeyPair, client: KeyPair | None) -> str:
    """Return the common name that a server sees of its client, or how the handshake failed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.certificate))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(server.certificate, server.key)
    seen: list[str] = []
    there, here = socket.socketpair()

    def serve() -> None:
        try:
            with context.wrap_socket(there, server_side=True) as tls:
                certificate = x509.load_der_x509_certificate(tls.getpeercert(True) or b"")
                (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
                seen.append(str(name.value))
                tls.sendall(b"x")
        except ssl.SSLError as error:
            seen.append(str(error.reason))

    thread = threading.Thread(target=serve)
    thread.start()
    trusting = client_context(authority.certificate, client)
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    with (
        contextlib.suppress(OSError),
        here,
        trusting.wrap_socket(here, server_hostname="localhost") as tls,
    ):
        tls.settimeout(10)
        tls.recv(1)
    thread.join(10)
    there.close()
    return seen[0]


def test_a_client_is_known_by_its_certificate(authority: Authority) -> None:
    """Both sides verify strictly, and the server reads the user from the common name."""
    server = authority.server("server", ["localhost", "127.0.0.1"])
    client = authority.client("client", "alice", ["admins", "people"])
    assert served_to(authority, server, client) == "alice"


def test_a_client_without_or_of_another_authority_is_refused(
    authority: Authority, tmp_path: Path
) -> None:
    """Only certificates of the trusted authority open the door."""
    server = authority.server("server", ["localhost"])
    other = Authority.create(tmp_path, "other-ca").client("stranger", "alice")
    assert "CERTIFICATE" in served_to(authority, server, None)
    assert served_to(authority, server, other) != "alice"


def test_groups_are_organizations(authority: Authority) -> None:
    """Kubernetes reads each group from one organization."""
    pair = authority.client("client", "alice", ["admins", "people"])
    subject = x509.load_pem_x509_certificate(pair.certificate.read_bytes()).subject
    organizations = subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [found.value for found in organizations] == ["admins", "people"]


def test_names_and_addresses_are_told_apart(authority: Authority) -> None:
    """An address is an IP entry, since a DNS entry of that text would not match."""
    pair = authority.server("server", ["hook.ns.svc", "127.0.0.1"])
    certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["hook.ns.svc"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_private_keys_are_their_owners(authority: Authority, tmp_path: Path) -> None:
    """No key can be read by group or others."""
    pair = authority.client("client", "alice")
    signing_keys(tmp_path / "sa.key", tmp_path / "sa.pub")
    for key in (authority.key, pair.key, tmp_path / "sa.key"):
        assert key.stat().st_mode & 0o077 == 0
