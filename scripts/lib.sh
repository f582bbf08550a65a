# What the scripts share: finding tools, setting up .venv once, saying what went wrong.
# Sourced, never run. Works with bash 3.2 (macOS) and without GNU-only options.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
VENV="$ROOT/.venv"
LOCKS="$ROOT/scripts/locks"
OLDEST_PYTHON=3.11
NEWEST_PYTHON=3.14
# Free space that a first start needs: packages 1.0 GB, the kernels' own Python 0.4 GB, and what is unpacked meanwhile.
NEEDED_MB=2500

# Compiled modules are kept, also where a container's image says otherwise: a server would compile 600 at each start.
unset PYTHONDONTWRITEBYTECODE

say() { printf '%s\n' "$*"; }
fail() {
    printf 'sayso: %s\n' "$*" >&2
    exit 1
}
on_terminal() { [ -t 0 ] && [ -t 1 ]; }

# ── Finding tools ────────────────────────────────────────────────────────────────────────────────

find_uv() {
    if [ -n "${SAYSO_WITHOUT_UV-}" ]; then return 1; fi
    command -v uv
}

# Prints the first Python that is new enough and starts (a shim may be there and lead nowhere).
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python3.14 python; do
        if python_fits "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

python_fits() {
    "$1" -c "
import sys
oldest, newest = ((int(part) for part in text.split('.')) for text in ('$OLDEST_PYTHON', '$NEWEST_PYTHON'))
sys.exit(not tuple(oldest) <= sys.version_info[:2] <= tuple(newest))" >/dev/null 2>&1
}

need_python() {
    PYTHON_FOUND="$(find_python)" && return 0
    local have how
    have="$(python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)" || have=none
    case "$(uname -s)" in
        Darwin) how="brew install python@3.13" ;;
        *) how="sudo apt install python3 (Debian 12 and newer), or set PYTHON to one" ;;
    esac
    fail "Sayso needs Python $OLDEST_PYTHON to $NEWEST_PYTHON and found $have: $how, then run this again."
}

# ── Long steps ───────────────────────────────────────────────────────────────────────────────────

STEP_PID=""
stop_step() {
    if [ -n "$STEP_PID" ]; then
        kill -TERM -- "-$STEP_PID" 2>/dev/null || kill -TERM "$STEP_PID" 2>/dev/null || true
        wait "$STEP_PID" 2>/dev/null || true
        STEP_PID=""
    fi
}
# What a script does when it ends early; scripts that start more than steps set their own traps.
trap 'stop_step; exit 130' INT
trap 'stop_step; exit 143' TERM HUP

# Prints how many characters fit on one line of the terminal that is descriptor 3; its size may change at any time.
columns() {
    local size
    size="$(stty size <&3 2>/dev/null)" || size=""
    size="${size#* }"
    # A terminal that does not know its size says 0; eighty is what it has nearly always.
    if [ "${size:-0}" -gt 0 ]; then printf '%s' "$size"; else printf 80; fi
}

# Puts a text in the place of the terminal's last line, cut so that it stays one line: of a line that it has
# wrapped, a terminal can take back the last part alone. Its tool's colours and returns are no part of it.
show_progress() {
    local text width
    { width=$(($(columns) - 1)); } 3>&1
    text="$(printf '%s' "$1" | tr -d '\000-\037\177')"
    printf '\r\033[K%s' "${text:0:$width}"
}

# usage: step "what is done" command…
# Runs the command with its output in $STEP_LOG and shows that it lives: on a terminal one line that
# changes, elsewhere a line every fifteen seconds. A step that takes no time is not spoken of.
# Returns the command's status.
step() {
    local what="$1" started=$SECONDS told="" status=0
    shift
    STEP_LOG="$ROOT/.house/setup.log"
    mkdir -p "$ROOT/.house"
    : >"$STEP_LOG"
    set -m # the step gets a process group of its own, so that Ctrl-C ends all of it
    "$@" >"$STEP_LOG" 2>&1 </dev/null &
    STEP_PID=$!
    set +m
    while kill -0 "$STEP_PID" 2>/dev/null; do
        if [ -t 1 ]; then
            show_progress "$what … $((SECONDS - started)) s  $(tail -n 1 "$STEP_LOG")"
        elif [ -z "$told" ] && [ $((SECONDS - started)) -ge 1 ]; then
            told=$SECONDS
            say "$what …"
        elif [ -n "$told" ] && [ $((SECONDS - told)) -ge 15 ]; then
            told=$SECONDS
            say "  … $((SECONDS - started)) s  $(tail -n 1 "$STEP_LOG" | cut -c 1-100)"
        fi
        sleep 0.2
    done
    wait "$STEP_PID" || status=$?
    STEP_PID=""
    if [ -t 1 ]; then printf '\r\033[K'; fi
    if [ "$status" -eq 0 ] && [ $((SECONDS - started)) -ge 1 ]; then say "$what: done ($((SECONDS - started)) s)"; fi
    return "$status"
}

# Says in one sentence why the step that was run last failed, from what its tool wrote.
fail_step() {
    local what="$1" last
    last="$(tail -n 1 "$STEP_LOG")"
    case "$last" in "sayso: "*) fail "${last#sayso: }" ;; esac
    if grep -qiE 'no space left|os error 28|errno 28|disk quota' "$STEP_LOG"; then
        fail "The disk is full: free about $NEEDED_MB MB for $ROOT, then run this again."
    elif grep -qiE 'do not match the hashes|hash mismatch' "$STEP_LOG"; then
        fail "A downloaded package is not the one that scripts/locks names, so nothing of it was installed: check your package index (details: $STEP_LOG)."
    elif grep -qiE 'ensurepip' "$STEP_LOG"; then
        fail "This Python cannot make virtual environments: sudo apt install python3-venv, then run this again."
    elif grep -qiE 'no usable wheels|no wheels with a matching|from versions: [^n)]' "$STEP_LOG"; then
        fail "A package has no ready-made build for this Python or machine: set PYTHON to another one of $OLDEST_PYTHON to $NEWEST_PYTHON (details: $STEP_LOG)."
    elif grep -qiE 'certificate' "$STEP_LOG"; then
        fail "The Python package index shows a certificate that this machine does not trust: name your network's own authority in SSL_CERT_FILE (uv) and PIP_CERT (pip), then run this again (details: $STEP_LOG)."
    elif grep -qiE 'connection|name resolution|dns error|failed to lookup|unreachable|timed out|failed to fetch|error sending request|no matching distribution|not found in the package registry|max retries|temporary failure' "$STEP_LOG"; then
        fail "The Python package index cannot be reached: connect this machine to the network (or name a mirror in PIP_INDEX_URL or UV_INDEX_URL), then run this again."
    elif grep -qiE 'permission denied|read-only file system' "$STEP_LOG"; then
        fail "$ROOT cannot be written to: give it to the user $(id -un), then run this again (details: $STEP_LOG)."
    fi
    tail -n 15 "$STEP_LOG" >&2
    fail "$what failed: the last lines are above, all of them in $STEP_LOG."
}

# ── What pip cannot bring ────────────────────────────────────────────────────────────────────────

# What tests look with, besides what Sayso itself needs: a program, and the Debian packages that bring it.
FOR_TESTS="gcc:gcc,libc6-dev zsh:zsh make:make curl:curl pulseaudio:pulseaudio pactl:pulseaudio-utils Xvfb:xvfb
    dbus-daemon:dbus ssh-agent:openssh-client systemd-analyze:systemd
    openbox:openbox,at-spi2-core,gir1.2-gtk-3.0,python3-gi,python3-tk Xephyr:xserver-xephyr xmodmap:x11-xserver-utils xprop:x11-utils"
FOR_LARGE_PROOFS="chromium:chromium tmux:tmux debootstrap:debootstrap linux.uml:user-mode-linux"

# usage: missing_packages run|test|thorough
# Prints the Debian packages that this machine lacks, on one line. On macOS their parts come with pip or the system.
missing_packages() {
    [ "$(uname -s)" = Linux ] || return 0
    local purpose="$1" missing="" parts="" part
    has_library libportaudio.so.2 || missing="$missing libportaudio2"
    has_library libgomp.so.1 || missing="$missing libgomp1"
    has_program bwrap || missing="$missing bubblewrap"
    has_program node || missing="$missing nodejs"
    if ! find_uv >/dev/null && [ ! -x "$VENV/bin/python" ] && need_python &&
        ! "$PYTHON_FOUND" -c 'import ensurepip, venv' 2>/dev/null; then
        missing="$missing python3-venv"
    fi
    if [ "$purpose" != run ]; then
        parts="$FOR_TESTS"
        has_sound_plugin || missing="$missing libasound2-plugins"
    fi
    if [ "$purpose" = thorough ]; then parts="$parts $FOR_LARGE_PROOFS"; fi
    for part in $parts; do
        has_program "${part%%:*}" || missing="$missing $(printf '%s' "${part#*:}" | tr ',' ' ')"
    done
    printf '%s' "${missing# }"
}

# Some lie where root alone looks.
has_program() { (PATH="$PATH:/usr/sbin:/sbin" && command -v "$1" >/dev/null); }

has_sound_plugin() {
    local plugin
    for plugin in /usr/lib*/alsa-lib/libasound_module_pcm_pulse.so /usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so; do
        if [ -e "$plugin" ]; then return 0; fi
    done
    return 1
}

has_library() {
    if [ -x /sbin/ldconfig ]; then
        /sbin/ldconfig -p | grep -q "$1"
    else
        ls /usr/lib/"$1" /usr/lib64/"$1" /usr/lib/*/"$1" >/dev/null 2>&1
    fi
}

explain_packages() {
    local package others=""
    for package in "$@"; do
        case "$package" in
            libportaudio2) say "  libportaudio2  the microphone and the loudspeaker of this machine" ;;
            libgomp1) say "  libgomp1       the language model that comes with Sayso" ;;
            bubblewrap) say "  bubblewrap     the stronger of the two sandboxes in which code runs" ;;
            nodejs) say "  nodejs         JavaScript beside Python" ;;
            python3-venv) say "  python3-venv   Python environments (needed, unless uv is there)" ;;
            *) others="$others $package" ;;
        esac
    done
    if [ -n "$others" ]; then say "  what tests look with, and some are left out without:$others"; fi
}

# usage: offer_packages run|test|thorough
# Offers to install what is missing: by itself as root, after a yes on a terminal, else it only says how.
# Asked once: the same answer is not asked for at each start.
offer_packages() {
    local missing asked="$ROOT/.house/asked-for-packages-to-$1" as_root="env" answer
    missing="$(missing_packages "$1")"
    if [ -z "$missing" ]; then return 0; fi
    if ! command -v apt-get >/dev/null; then
        say "Not on this machine (these are Debian's names; your package manager has them too): $missing"
        return 0
    fi
    if [ -f "$asked" ] && [ "$(cat "$asked")" = "$missing" ]; then
        say "Not on this machine: sudo apt install $missing"
        return 0
    fi
    case "$1" in
        run) say "Some parts of Sayso need Debian packages that are not on this machine:" ;;
        *) say "Some tests need Debian packages that are not on this machine:" ;;
    esac
    # shellcheck disable=SC2086  # a list of names
    explain_packages $missing
    if [ "$(id -u)" -ne 0 ]; then
        as_root="sudo"
        if ! on_terminal || ! command -v sudo >/dev/null; then
            say "Get them with: sudo apt install $missing"
            return 0
        fi
        printf 'Install them now with "sudo apt install"? [Y/n] '
        read -r answer || answer=n
        mkdir -p "$ROOT/.house"
        printf '%s' "$missing" >"$asked"
        case "$answer" in
            "" | y* | Y* | j* | J*) ;;
            *)
                say "Fine; everything else works. Later: sudo apt install $missing"
                return 0
                ;;
        esac
        sudo -v || return 0
    fi
    mkdir -p "$ROOT/.house"
    printf '%s' "$missing" >"$asked"
    step "Installing Debian packages" install_packages "$as_root" "$missing" ||
        say "They could not be installed (details: $STEP_LOG); everything else works. Later: sudo apt install $missing"
}

install_packages() {
    local as_root="$1" missing="$2"
    # shellcheck disable=SC2086  # a list of names
    "$as_root" apt-get update -q && "$as_root" DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# ── The environment ──────────────────────────────────────────────────────────────────────────────

# usage: stamp part…      what the environment is made from; if it changes, it is made anew
stamp() {
    {
        printf '%s\n' "$ROOT" "${SAYSO_TEST_WHEEL-}" "$@"
        "$VENV/bin/python" -c 'import sys; print(sys.version, sys.base_prefix)'
        cat "$ROOT/pyproject.toml" "$ROOT/scripts/lib.sh" "$LOCKS"/*.lock
    } | cksum
}

# usage: set_up run|dev      brings .venv to what is locked; costs nothing when it is already there
set_up() {
    local purpose="$1"
    if [ -x "$VENV/bin/python" ] && "$VENV/bin/python" -c '' 2>/dev/null &&
        [ -f "$VENV/sayso-$purpose" ] && [ "$(stamp "$purpose")" = "$(cat "$VENV/sayso-$purpose")" ]; then
        return 0
    fi
    need_python
    check_space
    make_venv
    install_lock "server" "Installing what the server needs (once, about 350 MB to download)"
    install_lock "build" "Installing what builds Sayso"
    if [ "$purpose" = dev ]; then install_lock "dev" "Installing what tests and checks need"; fi
    install_sayso
    stamp "$purpose" >"$VENV/sayso-$purpose"
}

check_space() {
    local free_mb
    free_mb="$(df -Pk "$ROOT" | awk 'NR == 2 { print int($4 / 1024) }')"
    if [ "${free_mb:-$NEEDED_MB}" -lt "$NEEDED_MB" ] && [ ! -d "$VENV" ]; then
        fail "The disk has $free_mb MB left and the first start needs $NEEDED_MB MB: free some for $ROOT, then run this again."
    fi
}

make_venv() {
    local uv
    if [ -x "$VENV/bin/python" ] && python_fits "$VENV/bin/python"; then return 0; fi
    if [ -e "$VENV" ] && [ ! -f "$VENV/pyvenv.cfg" ] && [ -n "$(ls -A "$VENV")" ]; then
        fail "$VENV is in the way and is no Python environment: move it away, then run this again."
    fi
    rm -rf "$VENV"
    if uv="$(find_uv)"; then
        step "Making a Python environment in .venv" "$uv" venv --no-project --python "$PYTHON_FOUND" "$VENV" ||
            fail_step "Making .venv"
    else
        if ! "$PYTHON_FOUND" -c 'import ensurepip, venv' 2>/dev/null; then
            fail "This Python cannot make virtual environments: sudo apt install python3-venv (or put uv on the PATH), then run this again."
        fi
        step "Making a Python environment in .venv" "$PYTHON_FOUND" -m venv "$VENV" || fail_step "Making .venv"
    fi
}

# usage: install arguments…      with uv when it is there, with the environment's own pip otherwise
install() {
    local uv
    if uv="$(find_uv)"; then
        "$uv" pip install --python "$VENV/bin/python" "$@"
    else
        "$VENV/bin/python" -m pip --version >/dev/null 2>&1 || "$VENV/bin/python" -m ensurepip
        "$VENV/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off "$@"
    fi
}

install_lock() {
    local name="$1" what="$2"
    # A lock is complete: nothing is resolved again, nothing is compiled, nothing else comes along.
    step "$what" install --no-deps --require-hashes --only-binary :all: -r "$LOCKS/$name.lock" ||
        fail_step "Installing the packages in scripts/locks/$name.lock"
}

install_sayso() {
    if [ -n "${SAYSO_TEST_WHEEL-}" ]; then
        rm -rf "$ROOT/build" "$ROOT/dist"
        step "Building the wheel" "$VENV/bin/python" -m build --wheel --no-isolation --outdir "$ROOT/dist" "$ROOT" ||
            fail_step "Building the wheel"
        step "Installing the wheel" install --no-deps --force-reinstall "$ROOT"/dist/sayso-*.whl || fail_step "Installing the wheel"
    else
        step "Installing Sayso itself" install --no-deps --no-build-isolation -e "$ROOT" || fail_step "Installing Sayso"
    fi
}

# usage: set_up_kernels HOME      makes the kernels' own Python under a Sayso home, if it is not there
set_up_kernels() {
    "$VENV/bin/python" - "$1" <<'PYTHON'
import os
import sys

if sys.argv[1]:
    os.environ["SAYSO_HOME"] = sys.argv[1]
from sayso.protocol.home import Home
from sayso.server.runtimes.kernels.environment import KernelEnvironmentError, ensure

try:
    ensure(Home.find(), lambda line: print(line, flush=True))
except KernelEnvironmentError as error:
    sys.exit(f"sayso: {error}")
PYTHON
}
