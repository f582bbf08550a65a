"""Every setting: its default, its unit and the reason for it.

The docstrings below each field are what `docs/settings.md` and `sayso settings KEY` show.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from sayso.protocol.home import (
    DEFAULT_HOST,
    DEFAULT_NETWORK_PORT,
    DEFAULT_PORT,
    DEFAULT_TRUST_PORT,
)
from sayso.server.settings.value_types import Between, ByProject

Port = Annotated[int, Between(0, 65_535)]
Threads = Annotated[int, Between(0, 256)]


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the server listens."""

    host: str = DEFAULT_HOST
    """Address to listen on for programs of this machine, and only for them: what comes in there
    is not encrypted. Other devices come in by `network`."""
    port: Port = DEFAULT_PORT
    """TCP port for the voice socket and the web pages; 0 takes any free one."""
    network: str = ""
    """Address on which your other devices reach this server, over TLS and once they are paired:
    `0.0.0.0` for all networks of this machine, or one of its addresses. Empty: they can't."""
    network_port: Port = DEFAULT_NETWORK_PORT
    """TCP port for them; 0 takes any free one."""
    names: tuple[str, ...] = ()
    """Further names by which this server is called, as in a router or by Tailscale; its certificate
    names them too. With a port (`sayso.example:443`) it is the name that a proxy before it has."""
    trust_page: bool = True
    """Whether a page shows the server's authority over plain HTTP while pairing is open, so that
    browsers can trust it. It holds no secret; switch it off where another certificate is used."""
    trust_port: Port = DEFAULT_TRUST_PORT
    """TCP port for that page; 0 takes any free one."""
    announce: bool = True
    """Whether the server is told by multicast as `sayso.local` to the network on which your other
    devices reach it."""


@dataclass(frozen=True, slots=True)
class Ears:
    """How speech becomes text."""

    engine: str = "whisper"
    """Who turns speech into text: `whisper` on this machine, `remote` for a server that speaks the
    OpenAI wire, or an engine that an installed package brings under this name."""
    model: Annotated[str, ByProject()] = "tiny.en"
    """Whisper model: a name from `sayso models`, or a folder in CTranslate2 format. The default
    comes with Sayso; `base.en` errs less and takes twice as long."""
    language: Annotated[str, ByProject()] = "auto"
    """Language code such as `en` or `de`, or `auto` to find out from the first words. English-only
    models (`*.en`) always hear English."""
    threads: Threads = 0
    """Processor threads for one transcription; 0 takes as many as there are cores, at most 4: more
    make a short utterance no faster."""
    api_base: str = ""
    """For the engine `remote`: URL of a server that has `/audio/transcriptions`, up to and
    including `/v1`. It is sent all that you say, as sound. Beyond your home it must be `https`;
    naming it here is your yes."""
    api_model: str = "whisper-1"
    """For `remote`: that server's name for the model."""
    api_drafts: bool = True
    """For `remote`: whether what is understood is shown while you speak, if the server is quick
    enough. Each draft is one more request with all that you said so far, for which a company may
    charge."""
    api_key_variable: str = ""
    """For `remote`: name of the environment variable that holds the API key. Empty: no key is
    sent."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks."""

    engine: str = "piper"
    """Who turns text into speech: `piper` on this machine, `remote` for a server that speaks the
    OpenAI wire, or an engine that an installed package brings under this name."""
    model: Annotated[str, ByProject()] = "en_US-joe-medium"
    """Piper voice: a name from `sayso models`, or the path of an `.onnx` file. The default comes
    with Sayso."""
    speed: Annotated[float, Between(0.5, 2.0), ByProject()] = 1.0
    """How fast it speaks: 2.0 is twice as fast. Beyond these bounds piper's speech is hard to
    understand."""
    fillers: Annotated[bool, ByProject()] = True
    """Whether "One moment." or the like is said, once, when an answer to spoken words takes more
    than 1.2 s to begin."""
    loaded: Annotated[int, Between(1, 16)] = 2
    """Voices in memory at once, about 150 MB each: yours, and one for answers in another language.
    A further one is loaded when it is wanted, in place of the one that was silent longest."""
    api_base: str = ""
    """For the engine `remote`: URL of a server that has `/audio/speech`, up to and including `/v1`.
    It is sent all that Sayso says. Beyond your home it must be `https`; naming it here is your
    yes."""
    api_model: str = "tts-1"
    """For `remote`: that server's name for the model."""
    api_voice: str = "alloy"
    """For `remote`: that server's name for the voice."""
    api_languages: tuple[str, ...] = ()
    """For `remote`: codes of the languages that this voice speaks, its own first, for example `de`.
    Empty: every language, and English unless something else is asked for."""
    api_key_variable: str = ""
    """For `remote`: name of the environment variable that holds the API key. Empty: no key is
    sent."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Which language model answers."""

    model: str = "auto"
    """`auto`: a local model server that answers, else a cloud key that you allowed, else the pocket
    model. Otherwise a litellm name (`anthropic/claude-sonnet-5-5`, `ollama_chat/qwen3:8b`), a GGUF
    model from `sayso models` or a path to one, or `none`. Naming a cloud model here is your yes to
    sending it what you say."""
    api_base: str = ""
    """URL of a server that speaks the OpenAI wire, up to and including `/v1`; with it, `model` is
    that server's name for the model. Empty means the provider's own."""
    api_key_variable: str = ""
    """Name of the environment variable that holds the API key. Empty means the provider's usual
    one. Keys themselves are never written to settings."""
    calls_tools: Literal["auto", "yes", "no"] = "auto"
    """Whether the model is given tools; otherwise it writes fenced code. `auto` asks the model's
    server, or knows the provider."""
    cloud_allowed: tuple[str, ...] = ()
    """Companies that may be sent what you say when their key is in the environment, for example
    `anthropic, openai`. Speech leaves the house only with this yes."""
    cloud_refused: tuple[str, ...] = ()
    """Companies whose keys are never used, and about which Sayso does not ask again."""
    look_for_local: bool = True
    """Whether to look for Ollama, LM Studio, llamafile and Jan on this machine at start."""
    stays_home: bool = False
    """Never to send what you say to a company, whatever else is set: only models on this machine
    or in your own network, for hearing and speaking too."""
    temperature: Annotated[float, Between(-1, 2)] = -1.0
    """How freely the model chooses its words, from 0; -1 leaves it to the model's profile or
    provider."""
    sees: Literal["auto", "yes", "no"] = "auto"
    """Whether the model can look at pictures, those that code draws and those that you name or send
    along; `auto` knows the well-known ones."""
    context_tokens: Annotated[int, Between(1_024, 262_144)] = 8_192
    """Length of the embedded model's memory, in tokens. Twice as long costs twice the memory; a
    model that was trained with less is given only that."""
    threads: Threads = 0
    """Processor threads of the embedded model; 0 takes all cores but one, so that hearing and
    speaking keep one."""


@dataclass(frozen=True, slots=True)
class Agent:
    """How Sayso works for you, and how far it goes before it stops and says so."""

    profile: str = "default"
    """Settings for one kind of work under one name: `default`, `local-small`, `offline`, `coding`,
    `data`, or a file of your own in `profiles` of the configuration folder. What you set yourself
    wins over it."""
    manner: Literal["auto", "default", "local-small", "pocket"] = "auto"
    """How the model is talked to: strong ones briefly, small ones with rules one at a time, the
    pocket one with worked examples. `auto` goes by the model."""
    instructions: str = ""
    """What the model is to know or heed in all conversations, in your words, for example that you
    are called Ann, or want metric units. It is sent with every request."""
    tools: tuple[str, ...] = ()
    """Tools of other packages that are on, by the names under which those bring them. They run in
    the server itself, outside of the sandbox, and are asked about at each call, so take none from
    strangers. They are for your own conversations alone."""
    steps: Annotated[int, Between(1, 200), ByProject()] = 12
    """Times that the model may run code for one request. Most requests take one to four; a loop
    never ends by itself."""
    seconds: Annotated[float, Between(5, 86_400), ByProject()] = 600.0
    """Seconds that one request may take, time spent waiting for your say-so not counted."""
    tokens: Annotated[int, Between(1_000, 100_000_000), ByProject()] = 200_000
    """Tokens that one request may use, in and out. A dozen steps with long outputs take fewer."""
    usd: Annotated[float, Between(0.01, 1_000)] = 1.0
    """US dollars that one request may cost, where the price is known. A request of a few cents
    never needs it; a runaway stops before it is dear."""
    day_steps: Annotated[int, Between(1, 100_000)] = 500
    """Times that the model may run code in one day, midnight to midnight, in all conversations
    together. Like each limit it ends in a question; a yes lets the day have as much again."""
    day_seconds: Annotated[float, Between(5, 86_400)] = 14_400.0
    """Seconds that models and code may take in one day, time spent waiting for you not counted."""
    day_tokens: Annotated[int, Between(1_000, 10_000_000_000)] = 5_000_000
    """Tokens that one day may use, in and out."""
    day_usd: Annotated[float, Between(0.01, 10_000)] = 5.0
    """US dollars that one day may cost, where the price is known."""
    output_chars: Annotated[int, Between(500, 200_000), ByProject()] = 8_000
    """Characters of what code printed that the model is given, head and tail: a page or two."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """What goes on in the background."""

    at_once: Annotated[int, Between(0, 16)] = 0
    """How many runs of one conversation may go on in the background at once; 0: three, or one
    where the machine has less than 5 GB of memory, such as most Raspberry Pis. Each has an
    interpreter of its own."""
    hours: Annotated[float, Between(0.01, 720)] = 8.0
    """How many hours one may run, before it is stopped: a night."""


@dataclass(frozen=True, slots=True)
class Home:
    """Lights, heating and music, by Home Assistant."""

    url: str = ""
    """Address of your Home Assistant, such as `http://192.168.1.2:8123`. Naming it is your yes to
    what is calm (lights, switches, fans, heating, media, scenes, lists), which is done at once;
    locks, alarms, garages, valves and scripts are asked about always. Beyond your home it must be
    `https`."""
    token_variable: str = "HOME_ASSISTANT_TOKEN"  # noqa: S105 - a name
    """Name of the environment variable that holds a long-lived access token of it."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """Your say-so."""

    mode: Literal["read-only", "ask", "workspace", "full"] = "ask"
    """What runs unasked. `read-only`: code may look and change nothing. `ask`: nothing does.
    `workspace`: what stays in the sandbox does. `full`: no sandbox; code may do all that you may.
    `/mode` changes it for one conversation."""
    safe: Literal["off", "ask", "auto"] = "ask"
    """Whether code is looked through for what is dangerous. `ask`: what is found is shown, and
    asked about in every mode. `auto`: what is gravely dangerous does not run. `off`: it is not
    looked through."""
    rules: tuple[str, ...] = ()
    """Your own rules, each a text of several lines: `allow`, `ask` or `deny`, then `command`,
    `path`, `host` or `language` and what is meant; then at least one line `matches: …` and one
    `spares: …` with examples, which are tried at start."""

    expire_s: Annotated[float, Between(5, 3_600)] = 120.0
    """Seconds that a question waits for an answer. Silence is a no."""


@dataclass(frozen=True, slots=True)
class Code:
    """Where code runs."""

    workspace: str = ""
    """Folder that code may write to; empty means one in Sayso's data folder. Code sees nothing else
    of yours but what is granted."""
    upload_mb: Annotated[int, Between(1, 100_000)] = 100
    """Megabytes of the largest file that a device may send into the workspace."""
    guest_upload_mb: Annotated[int, Between(1, 10_000_000)] = 1_000
    """Megabytes that may lie in all workspaces of another person together when they send a file."""
    languages: tuple[str, ...] = ()
    """Languages of your own, each a file and the class in it that describes the language, for
    example `~/ruby.py:Ruby`. The file runs in the server itself, so take none from strangers."""
    read_folders: tuple[str, ...] = ()
    """Folders of yours that code may read. A yes for good adds to them."""
    write_folders: tuple[str, ...] = ()
    """Folders of yours that code may read and write. A yes for good adds to them."""
    hosts: tuple[str, ...] = ()
    """Hosts on the network that code may reach, `*.example.org` for all below. A yes for good adds
    to them."""
    network: bool = False
    """Whether code may reach every public host. It never reaches this machine's own or your home
    network."""


@dataclass(frozen=True, slots=True)
class Git:
    """What is committed for you."""

    trailer: str = "Assisted-by: Sayso ({model})"
    """Line below the message of a commit that says who helped; `{model}` is the language model's
    name. Empty: none."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Taking back what code did to files: what is kept for it."""

    total_mb: Annotated[int, Between(0, 10_000_000)] = 2_000
    """Megabytes that may be kept for one conversation, next to the files themselves: the folders
    that code may write to, and what runs changed there. The oldest goes out first. 0 switches undo
    off."""
    house_mb: Annotated[int, Between(1, 10_000_000)] = 10_000
    """Megabytes that may be kept for all conversations together. What was kept for the one that was
    not used for longest goes out first."""
    file_mb: Annotated[int, Between(1, 1_000_000)] = 100
    """Megabytes of the largest file that is kept. Larger ones cannot be brought back; Sayso says
    which they are."""
    files: Annotated[int, Between(100, 10_000_000)] = 200_000
    """Files of one folder. Looking at so many before each run takes about a second; a folder with
    more is not looked after."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """What one server takes upon itself."""

    connections: Annotated[int, Between(1, 1_000)] = 256
    """Devices connected at once: a house full of small ones, and yet one that connects again and
    again cannot fill the machine."""
    device_connections: Annotated[int, Between(1, 64)] = 2
    """Connections at once of one paired device: its app, and a page of it."""
    strangers: Annotated[int, Between(1, 1_000)] = 8
    """Connections from one address of the network that have not yet proved who they are; more wait
    for two seconds and are cut off then, so that nobody fills the machine from outside."""
    requests_a_minute: Annotated[int, Between(1, 10_000)] = 30
    """Requests that one paired device may make: nobody asks more, and a device gone wild is told to
    wait. Programs of this machine are not counted."""
    sound_pace: Annotated[float, Between(1, 1_000)] = 1.5
    """How much faster than it was spoken sound is read, in the long run, after a burst of a minute:
    a device catches up after a cut, and nobody keeps the ears busy for the others."""
    sound_burst_s: Annotated[float, Between(1, 600)] = 60.0
    """Seconds of sound that are read at once: one utterance as long as they may be, sent again
    after a cut."""
    messages_a_second: Annotated[float, Between(1, 10_000)] = 100.0
    """Messages of one device that are read in the long run; one that plays sends ten or twenty."""
    send_s: Annotated[float, Between(0.1, 60)] = 3.0
    """Seconds for which a device may take nothing at all of what waits for it; then it counts as
    one that has stopped reading, and is let go. A line that is slow but moves is waited for. On
    Linux more than `gateway.vanished_s` changes nothing: raise both."""
    vanished_s: Annotated[float, Between(1, 600)] = 4.5
    """Seconds for which what a device was sent may stay unacknowledged, or what waits for it
    untaken; then it is gone, without a word. Raise it where devices come over a line that stalls
    for longer. It is Linux that tells; elsewhere this changes nothing."""
    waiting_mb: Annotated[int, Between(1, 64)] = 4
    """Megabytes that may wait for a device that reads slowly; more is likewise one that has stopped
    reading."""
    handshake_s: Annotated[float, Between(1, 60)] = 5.0
    """Seconds for a connection to be made and to say who it is; a device needs one round trip."""
    resume_s: Annotated[float, Between(0, 86_400)] = 300.0
    """Seconds for which the session of a device whose connection broke is kept: a tunnel, a lift, a
    walk between two networks. Who is longer away begins anew."""


@dataclass(frozen=True, slots=True)
class Adapters:
    """Which programs that speak other protocols are answered; none, unless it is set."""

    openai: bool = False
    """Whether programs that speak the OpenAI API are answered at `/v1`, where this server listens.
    Each shows a key that `sayso pair --key NAME` gives it."""


@dataclass(frozen=True, slots=True)
class Storage:
    """What is kept."""

    keep_days: Annotated[int, Between(0, 36_500)] = 0
    """Days after which a conversation that nobody took up again is forgotten, with all that was
    kept of it. 0 keeps everything until you say `/forget`."""
    minimum_free_mb: Annotated[int, Between(0, 1_000_000)] = 200
    """Megabytes to leave free on the disk: `sayso doctor` warns below, and fetched models stay
    above. A full disk in the middle of a conversation loses words."""


@dataclass(frozen=True, slots=True)
class Models:
    """Where further models come from."""

    hub: str = "https://huggingface.co"
    """Address of the hub that `sayso models get` fetches from. The environment's `HF_ENDPOINT` does
    the same, and yields to this setting."""


@dataclass(frozen=True, slots=True)
class Log:
    """What the server writes about itself."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """How much is logged. What you say is written at no level."""


SECTIONS: dict[str, type] = {
    "listen": Listen,
    "ears": Ears,
    "voice": Voice,
    "language_model": LanguageModel,
    "agent": Agent,
    "jobs": Jobs,
    "home": Home,
    "approvals": Approvals,
    "code": Code,
    "git": Git,
    "undo": Undo,
    "gateway": Gateway,
    "adapters": Adapters,
    "storage": Storage,
    "models": Models,
    "log": Log,
}
"""Each section by its name in files and flags."""
