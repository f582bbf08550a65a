# How `scripts/run --for-good` makes the server start with the machine.
# Sourced, never run.
# shellcheck shell=bash

install_boot_service() {
    case "$(uname -s)" in
        Darwin) install_launch_agent "$@" ;;
        *) install_user_unit "$@" ;;
    esac
}

# ── systemd: a unit of the user's own, no root ───────────────────────────────────────────────────

# usage: systemd_word WORD      quoted as unit files want it
systemd_word() {
    local word="$1"
    word="${word//\\/\\\\}"
    word="${word//\"/\\\"}"
    printf '"%s"' "${word//%/%%}"
}

# The command's line, in which $ would begin a variable.
systemd_command() {
    local word
    for word in "$@"; do printf ' %s' "$(systemd_word "${word//\$/\$\$}")"; done
}

user_unit() {
    local environment=""
    if [ -n "${SAYSO_HOME-}" ]; then environment="Environment=$(systemd_word "SAYSO_HOME=$SAYSO_HOME")"; fi
    cat <<UNIT
[Unit]
Description=Sayso, a voice assistant that acts on your say-so
After=network.target sound.target

[Service]
ExecStart=/usr/bin/env$(systemd_command "$VENV/bin/sayso" serve "$@")
$environment
Restart=on-failure
RestartSec=5
TimeoutStopSec=15
# What code takes is bounded in parts of this unit; code that comes to its bound does not end the server.
Delegate=memory pids
OOMPolicy=continue

[Install]
WantedBy=default.target
UNIT
}

install_user_unit() {
    local folder="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
    if ! command -v systemctl >/dev/null; then
        fail "This machine has no systemd: let its own boot scripts start $VENV/bin/sayso serve."
    fi
    mkdir -p "$folder" || fail "$folder cannot be made: give it to the user $(id -un), then run this again."
    user_unit "$@" >"$folder/sayso.service"
    say "Written: $folder/sayso.service"
    if ! systemctl --user daemon-reload 2>/dev/null || ! systemctl --user enable --quiet sayso.service 2>/dev/null ||
        ! systemctl --user restart sayso.service 2>/dev/null; then
        fail "systemd does not run for the user $(id -un) here: log in as the user that Sayso is for (not with su or sudo), then run this again."
    fi
    say "Sayso runs, and starts again whenever you log in."
    say "  talk to it       $VENV/bin/sayso talk"
    say "  how it is        systemctl --user status sayso"
    say "  without login    sudo loginctl enable-linger $(id -un)      (starts with the machine, stays when you log out)"
    say "  no longer        systemctl --user disable --now sayso"
}

# ── launchd: an agent of the user's own ──────────────────────────────────────────────────────────

LAUNCH_LABEL=org.sayso.server

xml_text() { printf '%s' "$1" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'; }

launch_agent() {
    local word
    cat <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>$LAUNCH_LABEL</string>
  <key>ProgramArguments</key>
  <array>
PLIST
    for word in "$VENV/bin/sayso" serve "$@"; do printf '    <string>%s</string>\n' "$(xml_text "$word")"; done
    printf '  </array>\n'
    if [ -n "${SAYSO_HOME-}" ]; then
        printf '  <key>EnvironmentVariables</key>\n  <dict><key>SAYSO_HOME</key><string>%s</string></dict>\n' "$(xml_text "$SAYSO_HOME")"
    fi
    cat <<PLIST
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>StandardOutPath</key><string>$(xml_text "$HOME/Library/Logs/sayso.log")</string>
  <key>StandardErrorPath</key><string>$(xml_text "$HOME/Library/Logs/sayso.log")</string>
</dict>
</plist>
PLIST
}

install_launch_agent() {
    local folder="$HOME/Library/LaunchAgents" domain
    domain="gui/$(id -u)"
    mkdir -p "$folder" "$HOME/Library/Logs"
    launch_agent "$@" >"$folder/$LAUNCH_LABEL.plist"
    say "Written: $folder/$LAUNCH_LABEL.plist"
    launchctl bootout "$domain/$LAUNCH_LABEL" 2>/dev/null || true
    launchctl bootstrap "$domain" "$folder/$LAUNCH_LABEL.plist" ||
        fail "launchd did not take the agent: log in at this Mac's own screen as the user that Sayso is for, then run this again."
    say "Sayso runs, and starts again whenever you log in."
    say "  talk to it       $VENV/bin/sayso talk"
    say "  how it is        launchctl print $domain/$LAUNCH_LABEL"
    say "  no longer        launchctl bootout $domain/$LAUNCH_LABEL && rm '$folder/$LAUNCH_LABEL.plist'"
}
