"""Lists the cloud providers whose API key may be in the environment; each needs one consent.

What a person says is sent to the provider that answers, so a key that happens to be in the
environment is not used before the person said yes to that provider once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Provider:
    """Someone who runs language models."""

    name: str
    """As in settings and before the slash of litellm's model names."""
    title: str
    """As people call it."""
    variables: tuple[str, ...]
    """Environment variables that may hold its key, the usual one first."""
    model: str
    """litellm's name of a model that is quick enough to talk with and writes code well."""
    host: str
    """Where its interface lives, to see whether it can be reached."""
    families: tuple[str, ...] = ()
    """How its models' names begin when no company stands before them."""

    def key(self, environment: Mapping[str, str]) -> tuple[str, str] | None:
        """The variable that is set, and its value."""
        for variable in self.variables:
            if value := environment.get(variable, "").strip():
                return variable, value
        return None


COMPANIES = (
    Provider(
        name="anthropic",
        title="Anthropic",
        variables=("ANTHROPIC_API_KEY",),
        model="anthropic/claude-sonnet-5-5",
        host="api.anthropic.com",
        families=("claude-",),
    ),
    Provider(
        name="openai",
        title="OpenAI",
        variables=("OPENAI_API_KEY",),
        model="openai/gpt-5.4-mini",
        host="api.openai.com",
        families=("gpt-", "chatgpt-", "o1", "o3", "o4"),
    ),
    Provider(
        name="gemini",
        title="Google",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        model="gemini/gemini-flash-latest",
        host="generativelanguage.googleapis.com",
        families=("gemini-",),
    ),
    Provider(
        name="groq",
        title="Groq",
        variables=("GROQ_API_KEY",),
        model="groq/openai/gpt-oss-120b",
        host="api.groq.com",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        variables=("OPENROUTER_API_KEY",),
        model="openrouter/openrouter/auto",
        host="openrouter.ai",
    ),
    Provider(
        name="mistral",
        title="Mistral",
        variables=("MISTRAL_API_KEY",),
        model="mistral/mistral-medium-latest",
        host="api.mistral.ai",
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        variables=("DEEPSEEK_API_KEY",),
        model="deepseek/deepseek-flash",
        host="api.deepseek.com",
        families=("deepseek-",),
    ),
    Provider(
        name="xai",
        title="xAI",
        variables=("XAI_API_KEY",),
        model="xai/grok-4.5",
        host="api.x.ai",
        families=("grok-",),
    ),
    Provider(
        name="cerebras",
        title="Cerebras",
        variables=("CEREBRAS_API_KEY",),
        model="cerebras/gpt-oss-120b",
        host="api.cerebras.ai",
    ),
    Provider(
        name="moonshot",
        title="Moonshot",
        variables=("MOONSHOT_API_KEY",),
        model="moonshot/kimi-k2.5",
        host="api.moonshot.ai",
    ),
    Provider(
        name="zai",
        title="Z.AI",
        variables=("ZAI_API_KEY",),
        model="zai/glm-4.7",
        host="api.z.ai",
    ),
    Provider(
        name="dashscope",
        title="Alibaba Cloud",
        variables=("DASHSCOPE_API_KEY",),
        model="dashscope/qwen3.8-flash",
        host="dashscope-intl.aliyuncs.com",
    ),
)
"""In the order in which their keys are looked for."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A key lies in the environment and nobody has said yes or no to its company."""

    company: Provider
    variable: str
    allowed: tuple[str, ...]
    """Companies that the person said yes to before."""
    refused: tuple[str, ...]

    @property
    def question(self) -> str:
        """To be asked at a terminal, answered with yes or no."""
        return (
            f"{self.variable} is set. May Sayso send what you say to {self.company.title} "
            f"({self.company.model})?"
        )

    @property
    def sentence(self) -> str:
        """Where nobody can be asked: what is there, and how to say yes."""
        key, value = self.remembering("yes")
        return (
            f"{self.variable} is set, but what you say goes to {self.company.title} only after "
            f"your yes: `sayso settings set {key} {','.join(value)}`."
        )

    def remembering(self, answer: Literal["yes", "no"]) -> tuple[str, tuple[str, ...]]:
        """The setting that remembers the answer, and its value."""
        if answer == "yes":
            return "language_model.cloud_allowed", (*self.allowed, self.company.name)
        return "language_model.cloud_refused", (*self.refused, self.company.name)


def company_of(model: str) -> Provider | None:
    """Whose model this litellm name means."""
    prefix, slash, _ = model.partition("/")
    for company in COMPANIES:
        if company.name == prefix if slash else model.startswith(company.families):
            return company
    return None


def with_keys(environment: Mapping[str, str]) -> Iterator[tuple[Provider, str, str]]:
    """Each company whose key is in the environment, with the variable and the key."""
    for company in COMPANIES:
        if found := company.key(environment):
            yield company, *found
