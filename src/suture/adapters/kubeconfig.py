"""Logging in to an API server: where it is, whom to trust, who we are.

A room of its own beside `kube` because credentials have their own clock: files rotate, plugins
run, tokens expire. Reading kubeconfig files is lightkube's; what it lacks is here: merged
`KUBECONFIG` lists, exec plugins of `v1`, and tokens that are read again before they expire.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import msgspec
import yaml
from lightkube.config.client_adapter import verify_cluster
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import Cluster, User, UserExec
from lightkube.core.exceptions import ConfigError

from suture.errors import InputError, UnavailableError

TOKEN_REREAD_S = 60.0
"""LIMIT: kubelets renew bound tokens at 80 % of their life, at least 2 minutes ahead of the end;
a minute between reads always sees the new one in time, as client-go does."""

EXEC_TIMEOUT_S = 60.0
"""LIMIT: cloud plugins take 1 to 3 s, up to 30 s when they refresh over a slow network."""

EXPIRY_SLACK_S = 10.0
"""LIMIT: a token this near its end may die on the way: longest connect (5 s) twice."""


class LoginError(InputError):
    """The kubeconfig, context or in-cluster account cannot be used as it is."""

    code = "login_invalid"


class ExecError(UnavailableError):
    """The credential plugin failed; its own words are in the message."""

    code = "login_plugin_failed"


class Login:
    """One way into one cluster; makes the TLS context and the `Authorization` header."""

    def __init__(self, config: SingleConfig) -> None:
        self._config = config
        self.server = config.cluster.server
        self.namespace = config.namespace
        self.name = config.context_name or ""
        """What people call this way in: the context of the kubeconfig."""
        self.user = config.user or User()
        parts = urlsplit(self.server)
        if parts.scheme not in {"https", "http"} or not parts.hostname:
            raise LoginError(f"cluster server `{self.server}` is not an http(s) address")
        self.local = _is_loopback(parts.hostname)
        """Whether the API server is on this machine."""
        self.trust_env = not self.local

    @classmethod
    def from_kubeconfig(cls, path: Path | str | None = None, context: str | None = None) -> Login:
        """Read `path`, else the files of `KUBECONFIG` merged, else `~/.kube/config`."""
        if path is not None:
            files = [Path(path)]
        else:
            listed = os.environ.get("KUBECONFIG", "")
            files = [Path(item) for item in listed.split(os.pathsep) if item]
            files = files or [Path("~/.kube/config").expanduser()]
            # WHY: kubectl skips listed files that do not exist; a single named one must.
            files = [file for file in files if file.is_file()] or files[:1]
        try:
            merged = _merge([_with_absolute_paths(KubeConfig.from_file(file)) for file in files])
            config = merged.get(context)
        except (ConfigError, OSError, yaml.YAMLError) as error:
            raise LoginError(f"kubeconfig cannot be used: {error}") from error
        except (KeyError, TypeError, AttributeError, msgspec.MsgspecError) as error:
            raise LoginError(
                f"kubeconfig `{files[0]}` lacks or misspells {error}; check it with `kubectl "
                "config view`"
            ) from error
        if config is None:
            raise LoginError(f"kubeconfig `{files[0]}` has no current context; name one")
        return cls(config)

    @classmethod
    def in_cluster(cls, account: Path | str | None = None) -> Login:
        """Use the pod's service account, found at `account` or where kubelets mount it."""
        try:
            if account is None:
                config = KubeConfig.from_service_account().get()
            else:
                config = KubeConfig.from_service_account(account).get()
        except KeyError as error:
            raise LoginError(
                f"not in a pod: the environment has no {error}; give a kubeconfig"
            ) from error
        except (ConfigError, OSError) as error:
            raise LoginError(f"not in a pod: {error}; give a kubeconfig") from error
        if config is None:  # pragma: no cover - lightkube's signature, not its behaviour
            raise LoginError("not in a pod; give a kubeconfig")
        return cls(config)

    def with_token(self, token: str) -> Login:
        """Return the same cluster entered with a bearer token, and with nothing else."""
        # WHY: a client certificate left in place would win over the token.
        return Login(self._config._replace(user=User(token=token)))

    def tls(self) -> ssl.SSLContext:
        """Return a new TLS context that trusts the cluster's CA and shows our certificate."""
        try:
            context = verify_cluster(
                self._config.cluster, self.user, self._config.abs_file, trust_env=self.trust_env
            )
        except (OSError, ValueError, ConfigError) as error:
            raise LoginError(f"certificates for `{self.server}` cannot be used: {error}") from error
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # WHY: from 3.13 on Python refuses CA certificates without the key identifier extension,
        # which older kubeadm and kops clusters have and every other client accepts.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    def auth(self) -> httpx2.Auth | None:
        """Return what adds credentials to each request; none for a client certificate."""
        user = self.user
        if user.token_file is not None:
            return TokenFileAuth(Path(self._config.abs_file(user.token_file)))
        if user.token is not None:
            return TokenAuth(user.token)
        if user.exec is not None:
            return ExecAuth(user.exec)
        if user.username and user.password:
            return httpx2.BasicAuth(user.username, user.password)
        if user.auth_provider is not None:
            raise LoginError(
                "kubeconfig user has an `auth-provider`, which Kubernetes removed in 1.26; "
                "use an exec plugin"
            )
        return None


class TokenAuth(httpx2.Auth):
    """A bearer token that never changes."""

    def __init__(self, token: str) -> None:
        self._bearer = f"Bearer {token.strip()}"

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Add the token."""
        request.headers["Authorization"] = self._bearer
        yield request


class TokenFileAuth(httpx2.Auth):
    """A bearer token in a file that somebody rotates: read each minute, and after a 401."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bearer = ""
        self._read_at = -TOKEN_REREAD_S

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Add the token; on 401 read the file again and try once more."""
        now = time.monotonic()
        if now - self._read_at >= TOKEN_REREAD_S or not self._bearer:
            self._read(now)
        used = self._bearer
        request.headers["Authorization"] = used
        response = yield request
        if response.status_code != httpx2.codes.UNAUTHORIZED:
            return
        self._read(now)
        if self._bearer != used:
            request.headers["Authorization"] = self._bearer
            yield request

    def _read(self, now: float) -> None:
        try:
            # WHY: blocking, on the loop: 1 KB from memory (a projected volume) each minute.
            self._bearer = f"Bearer {self._path.read_text(encoding='utf-8').strip()}"
        except OSError as error:
            if not self._bearer:
                raise LoginError(f"token file `{self._path}` cannot be read: {error}") from error
            # The token in hand may well be good for another hour; the next minute tries again.
        self._read_at = now


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str | None = None
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct):
    status: _ExecStatus


class ExecAuth(httpx2.Auth):
    """A credential plugin: run when there is no token, when it expires, and after a 401.

    Source: client.authentication.k8s.io/v1 ExecCredential (v1beta1 has the same shape).
    """

    VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

    def __init__(self, plugin: UserExec) -> None:
        if plugin.apiVersion not in self.VERSIONS:
            raise LoginError(
                f"exec plugin `{plugin.command}` speaks `{plugin.apiVersion}`; "
                f"known are {' and '.join(self.VERSIONS)}"
            )
        self._plugin = plugin
        self._bearer = ""
        self._expires: datetime | None = None
        self._lock = asyncio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the token; on 401 ask the plugin anew and try once more."""
        if not self._fresh():
            await self._login(replacing=self._bearer)
        used = self._bearer
        request.headers["Authorization"] = used
        response = yield request
        if response.status_code != httpx2.codes.UNAUTHORIZED:
            return
        await self._login(replacing=used)
        request.headers["Authorization"] = self._bearer
        yield request

    def _fresh(self) -> bool:
        if not self._bearer:
            return False
        if self._expires is None:
            return True
        return (self._expires - datetime.now(UTC)).total_seconds() > EXPIRY_SLACK_S

    async def _login(self, *, replacing: str) -> None:
        async with self._lock:
            # WHY: of many requests that met the same dead token only the first runs the plugin.
            if self._bearer != replacing and self._fresh():
                return
            output = await self._run()
            try:
                status = msgspec.json.decode(output, type=_ExecCredential).status
            except msgspec.MsgspecError as error:
                raise ExecError(
                    f"exec plugin `{self._plugin.command}` printed no ExecCredential: {error}"
                ) from error
            if not status.token:
                raise LoginError(
                    f"exec plugin `{self._plugin.command}` gave no token; plugins that give "
                    "client certificates are not supported"
                )
            self._bearer = f"Bearer {status.token}"
            self._expires = status.expiration_timestamp

    async def _run(self) -> bytes:
        plugin = self._plugin
        info = {
            "apiVersion": plugin.apiVersion,
            "kind": "ExecCredential",
            "spec": {"interactive": False},
        }
        env = dict(os.environ)
        env["KUBERNETES_EXEC_INFO"] = msgspec.json.encode(info).decode()
        env.update({item.name: item.value for item in plugin.env or ()})
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *(plugin.args or ()),
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"; {plugin.installHint.strip()}" if plugin.installHint else ""
            raise LoginError(
                f"exec plugin `{plugin.command}` cannot be started: {error}{hint}"
            ) from error
        try:
            async with asyncio.timeout(EXEC_TIMEOUT_S):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            raise ExecError(
                f"exec plugin `{plugin.command}` did not end within {EXEC_TIMEOUT_S:.0f} s"
            ) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            words = complaint.decode(errors="replace").strip()[-512:]
            raise ExecError(
                f"exec plugin `{plugin.command}` ended with {process.returncode}: {words}"
            )
        return output


def _is_loopback(host: str) -> bool:
    # WHY: a proxy named in the environment must not catch calls to this very machine; Go's
    # clients have the same rule.
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _with_absolute_paths(config: KubeConfig) -> KubeConfig:
    """Resolve relative files against their own kubeconfig, before several are merged."""
    folder = (config.fname or Path()).parent.absolute()

    def absolute(name: str | None) -> str | None:
        return str(folder / name) if name else name

    for cluster in config.clusters.values():
        cluster.certificate_auth = absolute(cluster.certificate_auth)
    for user in config.users.values():
        user.client_cert = absolute(user.client_cert)
        user.client_key = absolute(user.client_key)
        user.token_file = absolute(user.token_file)
        # WHY: kubectl looks up a bare command in PATH, one with a slash beside the kubeconfig.
        if user.exec is not None and "/" in user.exec.command:
            user.exec.command = str(folder / user.exec.command)
    return config


def _merge(configs: list[KubeConfig]) -> KubeConfig:
    """Merge as kubectl does: the first file to name a thing wins."""
    clusters: dict[str, Cluster] = {}
    users: dict[str, User] = {}
    merged = KubeConfig(clusters=clusters, contexts={}, users=users, fname=configs[0].fname)
    for config in configs:
        merged.current_context = merged.current_context or config.current_context
        for name, cluster in config.clusters.items():
            clusters.setdefault(name, cluster)
        for name, context in config.contexts.items():
            merged.contexts.setdefault(name, context)
        for name, user in config.users.items():
            users.setdefault(name, user)
    # WHY: an empty dict would be replaced by a new one inside KubeConfig.
    merged.users = users
    return merged
