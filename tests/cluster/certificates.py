"""Throw-away certificates of a control plane: an authority, the API server's, and the one of its administrator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=1)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Certificates:
    """Everything that a control plane needs.

    Attributes:
        authority: Who signs.
        server: The API server's.
        administrator: A client in the group system:masters.
        service_accounts: A key only, which signs the tokens of service accounts.
    """

    authority: KeyPair
    server: KeyPair
    administrator: KeyPair
    service_accounts: Path


def write_certificates(folder: Path) -> Certificates:
    """Make certificates that are good for a day, in a folder."""
    authority_key, authority_name = ec.generate_private_key(ec.SECP256R1()), _name("constructs-pd test")
    authority = (
        _builder(authority_name, authority_name, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )

    def signed(name: str, subject: x509.Name, usage: x509.ObjectIdentifier, alternative: bool) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, authority_name, key).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if alternative:
            names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return _write(folder, name, builder.sign(authority_key, hashes.SHA256()), key)

    tokens = folder / "service-accounts.key"
    tokens.write_bytes(_pem(ec.generate_private_key(ec.SECP256R1())))
    return Certificates(
        authority=_write(folder, "authority", authority, authority_key),
        server=signed("server", _name("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, alternative=True),
        administrator=signed(
            "administrator", _name("test", "system:masters"), ExtendedKeyUsageOID.CLIENT_AUTH, alternative=False
        ),
        service_accounts=tokens,
    )


def _name(common: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
    )


def _write(folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    pair = KeyPair(folder / f"{name}.crt", folder / f"{name}.key")
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(_pem(key))
    pair.key.chmod(0o600)
    return pair


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
