"""Lets the sockets of adapters in: each is a paired device's, whose connections are counted."""

import asyncio
from collections import Counter

from websockets.asyncio.server import ServerConnection

from sayso.protocol.errors import Refused
from sayso.server.gateway.admission.access_recorder import AccessRecorder
from sayso.server.gateway.admission.authentication import Authentication, ListenerKind
from sayso.server.gateway.admission.rate_limits import Rates
from sayso.server.gateway.admission.unauthenticated import address_of, known
from sayso.server.gateway.http.adapter_routes import OpenedSocket, SocketRoute
from sayso.server.gateway.limits import Limits
from sayso.server.log_context import log_ids
from sayso.server.store.access import DeviceConnected, DeviceDisconnected
from sayso.server.trust.principal import THIS_MACHINE


class AdapterSockets:
    """Those that are open, by device."""

    def __init__(self, guard: Authentication, limits: Limits, records: AccessRecorder) -> None:
        self._guard = guard
        self._limits = limits
        self._records = records
        self._here: Counter[str] = Counter()

    async def talk(
        self, socket: ServerConnection, route: SocketRoute, entrance: ListenerKind
    ) -> None:
        """Hand it to its adapter until that is done. Raises Refused."""
        request = socket.request
        who = self._guard.who_asks(request.headers, entrance) if request else None
        if request is None or who is None or not who.may(route.scope):
            raise Refused("The token is missing or not valid.").because("no_token")
        query = request.path.partition("?")[2]
        self._guard.recognised(socket)
        known(socket)
        if who is not THIS_MACHINE and self._here[who.device] >= self._limits.device_connections:
            raise Refused("This device has too many connections.", code="too_many", fatal=True)
        socket.protocol.max_message_size = route.message_bytes
        name, began = who.name or who.device, asyncio.get_running_loop().time()
        self._records.note(DeviceConnected(name, who.device, who.person, address_of(socket)))
        self._here[who.device] += 1
        try:
            with log_ids(device=name):
                await route.handler(OpenedSocket(socket, query, who, Rates(self._limits, who)))
        finally:
            self._here[who.device] -= 1
            seconds = round(asyncio.get_running_loop().time() - began, 1)
            self._records.note(DeviceDisconnected(name, who.device, "left", seconds))
            await socket.close()
