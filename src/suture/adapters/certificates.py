"""Certificates for a cluster that has no other source of them, made with `cryptography`.

One authority a set, whose own key is thrown away: renewing makes a new set, and `ca.crt` and the
registration's bundle change together with it.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from suture.errors import InputError
from suture.install.manifests import Certificates

VALIDITY = dt.timedelta(days=365)
"""LIMIT: a year, the life that kubeadm gives its own; `suture install --apply` renews in time."""

RENEW_BEFORE = dt.timedelta(days=60)
"""LIMIT: two months: the longest pause between two installs of a team that upgrades quarterly."""

BACKDATED = dt.timedelta(hours=1)
"""WHY: clocks of hosts differ; a certificate from the future is refused."""

CLIENT_NAME = "suture-apiserver-client"


def make_certificates(names: Sequence[str], *, client: bool) -> Certificates:
    """Return a new set for a server of these DNS names and addresses, with one for its client."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    issuer = _name("suture")
    authority = (
        certificate_builder(issuer, issuer, authority_key.public_key(), authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage(signs=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )

    def issue(
        subject: x509.Name, usage: x509.ObjectIdentifier, alternatives: Sequence[str]
    ) -> tuple[bytes, bytes]:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            certificate_builder(subject, issuer, key.public_key(), authority_key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        )
        if alternatives:
            found = x509.SubjectAlternativeName([general_name(name) for name in alternatives])
            builder = builder.add_extension(found, critical=False)
        return _pem(builder.sign(authority_key, hashes.SHA256())), _key_pem(key)

    certificate, key = issue(_name(names[0]), ExtendedKeyUsageOID.SERVER_AUTH, names)
    client_certificate, client_key = (
        issue(_name(CLIENT_NAME), ExtendedKeyUsageOID.CLIENT_AUTH, ()) if client else (b"", b"")
    )
    return Certificates(
        authority=_pem(authority),
        certificate=certificate,
        key=key,
        client_certificate=client_certificate,
        client_key=client_key,
    )


def usable(certificates: Certificates, names: Sequence[str], now: dt.datetime) -> bool:
    """Tell whether a set is for these names and will last until the next install."""
    try:
        found = x509.load_pem_x509_certificate(certificates.certificate)
        authority = x509.load_pem_x509_certificate(certificates.authority)
        found.verify_directly_issued_by(authority)
        extension = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    known = {str(one.value) for one in extension.value}
    return set(names) <= known and found.not_valid_after_utc - RENEW_BEFORE > now


def _name(common: str) -> x509.Name:
    if not 0 < len(common) <= 64:
        raise InputError(f"`{common}` cannot be a certificate's name: 1 to 64 characters")
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def certificate_builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    validity: dt.timedelta = VALIDITY,
) -> x509.CertificateBuilder:
    """Begin a certificate, with the key identifiers that strict verifiers ask for.

    WHY identifiers: Python 3.13 refuses chains without them.
    """
    now = dt.datetime.now(dt.UTC)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + validity)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(identifier, critical=False)
    )


def key_usage(*, signs: bool) -> x509.KeyUsage:
    """Say what a key is for: signing certificates, or proving who one is."""
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def general_name(name: str) -> x509.GeneralName:
    """Return a DNS name or an address as certificates write them."""
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
