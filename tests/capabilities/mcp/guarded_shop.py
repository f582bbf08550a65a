"""The shop over HTTP, by the SDK, behind an authorization server of its own: `guarded_shop.py
FOLDER` prints the address, and goes on until it is ended.

Each step of a login is a line of FOLDER/asked. What else it does, the environment says: `OPEN`
wants no login, `TAKES` names how a client's secret may come, `LEADS` is the authorization server
that it names in place of itself.
"""

import base64
import itertools
import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

if not __package__:  # run as a program: its neighbour is found from the repository's root
    sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.capabilities.mcp.shop_server import server

KNOWN = ("sayso-by-hand", "a secret from the form")
"""The client that was registered by hand."""

folder = Path(sys.argv[1])
numbers = itertools.count(1)
valid: set[str] = set()
clients: dict[str, str] = dict([KNOWN])


def note(line: str) -> None:
    with (folder / "asked").open("a") as file:
        file.write(f"{line}\n")


def base(request: Request) -> str:
    return f"http://{request.headers['host']}"


async def resource(request: Request) -> Response:
    server_of_tokens = os.environ.get("LEADS") or base(request)
    return JSONResponse(
        {"resource": f"{base(request)}/mcp", "authorization_servers": [server_of_tokens]}
    )


async def metadata(request: Request) -> Response:
    at = base(request)
    return JSONResponse(
        {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "registration_endpoint": f"{at}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [
                os.environ.get("TAKES", "client_secret_basic"),
                "none",
            ],
            "authorization_response_iss_parameter_supported": True,
        }
    )


async def register(request: Request) -> Response:
    wanted = await request.json()
    name = f"registered-{next(numbers)}"
    clients[name] = ""
    note("register")
    given = {**wanted, "client_id": name, "token_endpoint_auth_method": "none"}
    return JSONResponse(given, status_code=201)


async def authorize(request: Request) -> Response:
    asked = request.query_params
    note(f"authorize {asked['client_id']}")
    back = {"code": "c0de", "state": asked["state"], "iss": base(request)}
    return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}")


async def token(request: Request) -> Response:
    form: dict[str, Any] = dict(await request.form())
    shown = request.headers.get("authorization", "")
    if shown.startswith("Basic "):
        how = "client_secret_basic"
        name, _, secret = map(unquote, base64.b64decode(shown[6:]).decode().partition(":"))
    else:
        how = "client_secret_post" if "client_secret" in form else "none"
        name, secret = form.get("client_id", ""), form.get("client_secret", "")
    note(f"token {form['grant_type']} {name} {how}")
    if clients.get(name) != secret:
        return JSONResponse({"error": "invalid_client"}, status_code=401)
    access = f"access-{next(numbers)}"
    valid.add(access)
    given = {"access_token": access, "token_type": "Bearer", "expires_in": 3600}
    return JSONResponse({**given, "refresh_token": "renew"})


class Guarded:
    """The shop, for those who show a token."""

    def __init__(self) -> None:
        self._shop = server.streamable_http_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "OPEN" not in os.environ:
            request = Request(scope)
            if request.headers.get("authorization", "").removeprefix("Bearer ") not in valid:
                where = f"{base(request)}/.well-known/oauth-protected-resource/mcp"
                headers = {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'}
                await Response(status_code=401, headers=headers)(scope, receive, send)
                return
        await self._shop(scope, receive, send)

    def lifespan(self, app: Starlette) -> Any:  # noqa: ANN401 - starlette's
        return self._shop.router.lifespan_context(app)


guarded = Guarded()
app = Starlette(
    routes=[
        Route("/.well-known/oauth-protected-resource/mcp", resource),
        Route("/.well-known/oauth-authorization-server", metadata),
        Route("/register", register, methods=["POST"]),
        Route("/authorize", authorize),
        Route("/token", token, methods=["POST"]),
        Mount("/", guarded),
    ],
    lifespan=guarded.lifespan,
)

if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
