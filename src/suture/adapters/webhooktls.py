"""Who may knock at the webhook, and with which certificate it answers: TLS of the HTTPS server.

Beside `webhook` because trust has its own life: files are replaced while connections live on. A
changed file makes a whole new context, which is taken over only when it is sound; handshakes that
begin later use it, open connections keep what they have.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import assert_never

from cryptography import x509

from suture.errors import InputError

MIN_SECRET_CHARS = 32
"""LIMIT: 32 characters of base64 are 192 bits; nobody guesses that over a network."""


class CertificateError(InputError):
    """A certificate, key or CA file cannot be used as it is."""

    code = "certificate_invalid"


@dataclass(frozen=True)
class MutualTls:
    """Only holders of a certificate of this CA are answered; others do not get past TLS."""

    ca: Path
    """The authority of the API server's client certificate, and better of nothing else."""
    names: frozenset[str] = frozenset()
    """Common names that may ask; empty lets in everyone whom the CA signed."""


@dataclass(frozen=True)
class SecretPath:
    """For API servers that present no certificate: the first segment of the path is a secret."""

    secret: str

    def __post_init__(self) -> None:
        if len(self.secret) < MIN_SECRET_CHARS:
            raise InputError(f"secret of the webhook path is under {MIN_SECRET_CHARS} characters")
        if not self.secret.isascii() or not self.secret.replace("-", "").replace("_", "").isalnum():
            raise InputError("secret of the webhook path has characters other than A-Z a-z 0-9 - _")


ClientAuth = MutualTls | SecretPath


@dataclass(frozen=True)
class Peer:
    """Who is at the other end: its address, and the subject that TLS has verified, if any."""

    address: str
    common_name: str = ""
    organizations: tuple[str, ...] = ()


class Identity:
    """The server's certificate and trust, as of the last time its files could be used."""

    def __init__(self, certificate: Path, key: Path, client_auth: ClientAuth) -> None:
        self._certificate = certificate
        self._key = key
        self._client_auth = client_auth
        self._seen = self._digest()
        self._current, self.expires = self._load()
        self.context = self._current
        # WHY: asyncio keeps the context it was started with. OpenSSL asks here at the start of
        # each handshake, with or without a server name in it, which one to go on with.
        self.context.sni_callback = self._hand_over

    expires: datetime
    """When the certificate in use ends."""

    async def reload(self) -> bool:
        """Take over changed files; tell whether there were any.

        Errors: `CertificateError` when they changed and cannot be used; the old ones stay, and
        the next call tries again.
        """
        # Off the loop: a mounted volume that hangs must not hold up reviews.
        seen = await asyncio.to_thread(self._digest)
        if seen == self._seen:
            return False
        self._current, self.expires = await asyncio.to_thread(self._load)
        self._seen = seen
        return True

    def peer(self, address: str, certificate: dict[str, object] | None) -> Peer | None:
        """Return who has connected; none for one whom TLS let in and the list of names does not.

        Shapes: `certificate` as `SSLObject.getpeercert()` returns it.
        """
        match self._client_auth:
            case SecretPath():
                return Peer(address)
            case MutualTls(names=names):
                if not certificate:  # pragma: no cover - CERT_REQUIRED has refused it
                    return None
                common_name, organizations = _subject(certificate)
                if names and common_name not in names:
                    return None
                return Peer(address, common_name, organizations)
            case _:
                assert_never(self._client_auth)

    def _hand_over(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _: ssl.SSLContext
    ) -> None:
        connection.context = self._current

    def _files(self) -> list[Path]:
        match self._client_auth:
            case MutualTls(ca=ca):
                return [self._certificate, self._key, ca]
            case SecretPath():
                return [self._certificate, self._key]
            case _:
                assert_never(self._client_auth)

    def _digest(self) -> bytes:
        # WHY contents, not times: mounted secrets change by a switched link, and copies keep times.
        digest = hashlib.sha256()
        for file in self._files():
            try:
                digest.update(hashlib.sha256(file.read_bytes()).digest())
            except OSError as error:
                raise CertificateError(f"`{file}` cannot be read: {error.strerror}") from error
        return digest.digest()

    def _load(self) -> tuple[ssl.SSLContext, datetime]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # WHY: a resumed session would skip the check of its certificate against a CA that was
        # replaced since; API servers keep connections instead and never resume.
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
        context.num_tickets = 0
        try:
            context.load_cert_chain(self._certificate, self._key)
        except (OSError, ValueError) as error:  # an ssl.SSLError is an OSError
            raise CertificateError(
                f"`{self._certificate}` is no certificate for the key `{self._key}`: {error}"
            ) from error
        if isinstance(self._client_auth, MutualTls):
            context.verify_mode = ssl.CERT_REQUIRED
            # WHY: an intermediate authority may be the anchor, to trust it and not its siblings.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            try:
                context.load_verify_locations(self._client_auth.ca)
            except (OSError, ValueError) as error:
                raise CertificateError(
                    f"`{self._client_auth.ca}` holds no authorities: {error}"
                ) from error
        try:
            leaf = x509.load_pem_x509_certificate(self._certificate.read_bytes())
        except (OSError, ValueError) as error:
            raise CertificateError(f"`{self._certificate}` cannot be read: {error}") from error
        return context, leaf.not_valid_after_utc


def _subject(certificate: dict[str, object]) -> tuple[str, tuple[str, ...]]:
    """Return the last common name, as Kubernetes reads it, and the organizations."""
    common_name, organizations = "", []
    names = certificate.get("subject", ())
    for relative in names if isinstance(names, tuple) else ():
        for kind, value in relative:
            if kind == "commonName":
                common_name = value
            elif kind == "organizationName":
                organizations.append(value)
    return common_name, tuple(organizations)
