"""Finds the packages of each room; all else that builds Sayso stands in pyproject.toml.

The rooms lie at the top of the repository under names that are not those of their packages, which
`packages.find` cannot express.
"""

from setuptools import find_packages, setup

ROOMS = {
    "protocol": "sayso.protocol",
    "audio": "sayso.audio",
    "client": "sayso.client",
    "firmware-sim": "sayso.firmware_sim",
    "server": "sayso.server",
}

setup(
    package_dir={package: folder for folder, package in ROOMS.items()},
    packages=[
        name
        for folder, package in ROOMS.items()
        for name in (package, *(f"{package}.{inner}" for inner in find_packages(folder)))
    ],
)
