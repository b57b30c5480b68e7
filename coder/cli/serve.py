"""`coder serve`."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coder.cli.generate import DecoderName
from coder.cli.local_model import Model, Precision, load_model, user_settings
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from coder.environment import Environment

TOKEN_VARIABLE = "CODER_SERVE_TOKEN"


def serve(
    context: typer.Context,
    model: Model = None,
    precision: Precision = None,
    decoder: Annotated[DecoderName, typer.Option(help="How tokens are chosen.")] = DecoderName.draft_verify,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8399,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Ask for the token in it; else that in {TOKEN_VARIABLE}.")
    ] = None,
) -> None:
    """Serve a local model to other programs, in the manner of the OpenAI API.

    Chat completions with tools and JSON schemas, completions with a suffix, models; streaming. On this machine only,
    unless --host says otherwise: then a token is required, and one is made up and shown where none is given.
    """
    environment: Environment = context.obj
    token = _token(environment, token_file, host)
    listener = _listen(host, port)
    settings = user_settings(environment, model=model, precision=precision)
    network, tokenizer = load_model(environment, settings)

    import uvicorn

    from coder.serve.app import build
    from model.decoding.names import DECODERS
    from model.local_chat import LocalChat

    chat = LocalChat(network, tokenizer, DECODERS[decoder.value], forget=False)
    app = build(chat, settings.model, token)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, lifespan="off")
    name = f"[{host}]" if ":" in host else host
    environment.tell(f"{settings.model} at http://{name}:{listener.getsockname()[1]}/v1 (Ctrl-C ends)")
    with suppress(KeyboardInterrupt), listener:
        uvicorn.Server(config).run(sockets=[listener])


def _token(environment: Environment, file: Path | None, host: str) -> str:
    """The token that requests must carry; empty where none is needed."""
    token = environment.variables.get(TOKEN_VARIABLE, "")
    if file is not None:
        try:
            token = (environment.cwd / file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(ExitStatus.USAGE, f"cannot read the token from {file}: {error}") from error
        if not token:
            raise Failure(ExitStatus.USAGE, f"{file} holds no token")
    if not token and not _is_loopback(host):
        token = secrets.token_urlsafe(24)
        environment.tell(f"other machines can reach {host}: requests need this token: {token}")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """Bound before the model is loaded: a taken port shows at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        message = f"cannot listen on {host} port {port}: {getattr(error, 'strerror', None) or error}"
        raise Failure(ExitStatus.USAGE, message, "Choose another --port or --host.") from error
    return listener
