"""The lab's certificates: authorities, serving and client certificates, made with `cryptography`.

Lives in the lab because only the lab is its own certificate authority; on a real cluster
certificates come from elsewhere. Knows files and names, nothing of the processes that use them.
"""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from suture.adapters.certificates import certificate_builder, general_name, key_usage

# LIMIT: a lab lives hours; a week survives a forgotten one and a suspended laptop.
VALIDITY = dt.timedelta(days=7)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM files; the key is readable by its owner only."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """A certificate authority kept in a folder as `<name>.crt` and `<name>.key`."""

    folder: Path
    name: str

    @property
    def certificate(self) -> Path:
        """The file that those who trust this authority read."""
        return self.folder / f"{self.name}.crt"

    @property
    def key(self) -> Path:
        """The authority's private key."""
        return self.folder / f"{self.name}.key"

    @classmethod
    def create(cls, folder: Path, name: str) -> Authority:
        """Make a new authority and write its two files."""
        authority = cls(folder, name)
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"suture-lab-{name}")])
        builder = (
            certificate_builder(subject, subject, key.public_key(), key.public_key(), VALIDITY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(key_usage(signs=True), critical=True)
        )
        _write(authority.certificate, authority.key, builder.sign(key, hashes.SHA256()), key)
        return authority

    def server(self, stem: str, names: Iterable[str]) -> KeyPair:
        """Issue a serving certificate for DNS names and IP addresses.

        It may be presented as a client too: etcd's peers do both with one certificate.
        """
        alternatives = x509.SubjectAlternativeName([general_name(name) for name in names])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, stem)])
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        return self._issue(stem, subject, usages, alternatives)

    def client(self, stem: str, user: str, groups: Iterable[str] = ()) -> KeyPair:
        """Issue a client certificate: Kubernetes reads the user from CN and groups from O."""
        organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        return self._issue(stem, subject, [ExtendedKeyUsageOID.CLIENT_AUTH], None)

    def _issue(
        self,
        stem: str,
        subject: x509.Name,
        usages: list[x509.ObjectIdentifier],
        alternatives: x509.SubjectAlternativeName | None,
    ) -> KeyPair:
        issuer = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        issuer_key = serialization.load_pem_private_key(self.key.read_bytes(), password=None)
        if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):  # pragma: no cover - ours are EC
            raise TypeError(f"`{self.key}` is not an elliptic-curve key")
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            certificate_builder(
                subject, issuer.subject, key.public_key(), issuer_key.public_key(), VALIDITY
            )
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        )
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        pair = KeyPair(self.folder / f"{stem}.crt", self.folder / f"{stem}.key")
        _write(pair.certificate, pair.key, builder.sign(issuer_key, hashes.SHA256()), key)
        return pair


def signing_keys(private: Path, public: Path) -> None:
    """Write the two halves of a key for signing ServiceAccount tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    _write_key(private, key)
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


def client_context(authority: Path, pair: KeyPair | None = None) -> ssl.SSLContext:
    """Return a TLS context that trusts `authority` alone and presents `pair` when given."""
    context = ssl.create_default_context(cafile=str(authority))
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    return context


def _write(
    certificate: Path, key: Path, signed: x509.Certificate, private: ec.EllipticCurvePrivateKey
) -> None:
    _write_key(key, private)
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
