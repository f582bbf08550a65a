"""Every message of the wire and the name it travels under."""

from sayso.protocol.messages.conversing import Command, CommandDone, Conversation
from sayso.protocol.messages.device_requests import ActRequest, ActResult, Picture
from sayso.protocol.messages.files import FileGot, FilePut
from sayso.protocol.messages.listening import (
    AudioAck,
    Interrupt,
    ListenCancel,
    ListenEnd,
    ListenStart,
    ListenStop,
    Settings,
    SttFinal,
    SttPartial,
    Text,
)
from sayso.protocol.messages.pairing import (
    Devices,
    DevicesList,
    DevicesRevoke,
    Pair,
    Paired,
    PairingClose,
    PairingDone,
    PairingOpen,
    PairingOpened,
)
from sayso.protocol.messages.session import (
    AudioAgreed,
    AudioOffer,
    Bye,
    Error,
    Hello,
    Limits,
    Ping,
    Pong,
    Snapshot,
    VersionRange,
    Welcome,
)
from sayso.protocol.messages.speaking import (
    Announce,
    PlayState,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    Word,
)
from sayso.protocol.messages.working import (
    ApprovalDone,
    ApprovalRequest,
    Approve,
    Changes,
    CodeEnd,
    CodeOut,
    CodeStart,
    Metrics,
    Renamed,
    TaskCancel,
    TaskUpdate,
    TurnState,
)

FromClient = (
    Hello
    | Ping
    | Pong
    | Error
    | Bye
    | ListenStart
    | ListenStop
    | ListenCancel
    | Text
    | Interrupt
    | PlayState
    | Approve
    | Settings
    | TaskCancel
    | ActResult
    | Command
    | FilePut
    | Pair
    | PairingOpen
    | PairingClose
    | DevicesList
    | DevicesRevoke
)
"""What a client may send."""

FromServer = (
    Welcome
    | Ping
    | Pong
    | Error
    | Bye
    | ListenEnd
    | AudioAck
    | SttPartial
    | SttFinal
    | TurnState
    | ReplyDelta
    | SpeechStart
    | SpeechStop
    | CodeStart
    | CodeOut
    | CodeEnd
    | ApprovalRequest
    | ApprovalDone
    | TaskUpdate
    | ActRequest
    | Announce
    | Metrics
    | CommandDone
    | FileGot
    | Conversation
    | Paired
    | PairingOpened
    | PairingDone
    | Devices
)
"""What a server may send."""

Message = FromClient | FromServer

OfPairing = (
    Pair
    | Paired
    | PairingOpen
    | PairingClose
    | PairingOpened
    | PairingDone
    | DevicesList
    | DevicesRevoke
    | Devices
)
"""Who may come in at all: nothing that a conversation hears of."""

OfConnection = Hello | Welcome | Ping | Pong | Bye | OfPairing
"""What is said of one connection: never numbered with `seq`, and never replayed."""

TYPES: dict[str, type[Message]] = {
    "hello": Hello,
    "welcome": Welcome,
    "ping": Ping,
    "pong": Pong,
    "error": Error,
    "bye": Bye,
    "listen.start": ListenStart,
    "listen.stop": ListenStop,
    "listen.cancel": ListenCancel,
    "text": Text,
    "interrupt": Interrupt,
    "settings": Settings,
    "listen.end": ListenEnd,
    "audio.ack": AudioAck,
    "stt.partial": SttPartial,
    "stt.final": SttFinal,
    "reply.delta": ReplyDelta,
    "speech.start": SpeechStart,
    "speech.stop": SpeechStop,
    "play.state": PlayState,
    "announce": Announce,
    "turn.state": TurnState,
    "code.start": CodeStart,
    "code.out": CodeOut,
    "code.end": CodeEnd,
    "approval.request": ApprovalRequest,
    "approve": Approve,
    "approval.done": ApprovalDone,
    "task.update": TaskUpdate,
    "task.cancel": TaskCancel,
    "act.request": ActRequest,
    "act.result": ActResult,
    "metrics": Metrics,
    "file.put": FilePut,
    "file.got": FileGot,
    "command": Command,
    "command.done": CommandDone,
    "conversation": Conversation,
    "pair": Pair,
    "paired": Paired,
    "pairing.open": PairingOpen,
    "pairing.close": PairingClose,
    "pairing.opened": PairingOpened,
    "pairing.done": PairingDone,
    "devices.list": DevicesList,
    "devices.revoke": DevicesRevoke,
    "devices": Devices,
}
"""The wire's name of each message, the value of `t`."""

NAMES: dict[type[Message], str] = {kind: name for name, kind in TYPES.items()}

__all__ = [
    "NAMES",
    "TYPES",
    "ActRequest",
    "ActResult",
    "Announce",
    "ApprovalDone",
    "ApprovalRequest",
    "Approve",
    "AudioAck",
    "AudioAgreed",
    "AudioOffer",
    "Bye",
    "Changes",
    "CodeEnd",
    "CodeOut",
    "CodeStart",
    "Command",
    "CommandDone",
    "Conversation",
    "Devices",
    "DevicesList",
    "DevicesRevoke",
    "Error",
    "FileGot",
    "FilePut",
    "FromClient",
    "FromServer",
    "Hello",
    "Interrupt",
    "Limits",
    "ListenCancel",
    "ListenEnd",
    "ListenStart",
    "ListenStop",
    "Message",
    "Metrics",
    "OfConnection",
    "OfPairing",
    "Pair",
    "Paired",
    "PairingClose",
    "PairingDone",
    "PairingOpen",
    "PairingOpened",
    "Picture",
    "Ping",
    "PlayState",
    "Pong",
    "Renamed",
    "ReplyDelta",
    "Settings",
    "Snapshot",
    "SpeechStart",
    "SpeechStop",
    "SttFinal",
    "SttPartial",
    "TaskCancel",
    "TaskUpdate",
    "Text",
    "TurnState",
    "VersionRange",
    "Welcome",
    "Word",
]
