"""Which files programs of the host run unasked: of a home folder, and of a project by its hooks.

Listed is what is read and run when a person logs in, opens a shell or a desktop, or starts an
everyday program, without that program asking about it first. What is asked about first (direnv's
`.envrc`, an editor's tasks), or runs when a person names it (a Makefile, `npm test`), is not.
"""

import functools
import pwd
from pathlib import Path
from typing import Final

_SHELLS: Final = (
    ".profile", ".login", ".logout", ".shrc", ".shinit", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_functions",
    ".bash_completion", ".bash_env", ".bashrc.d", ".bash.d", ".local/share/bash-completion",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh_aliases", ".zshrc.d", ".zsh",
    ".oh-my-zsh", ".zprezto", ".zpreztorc", ".zimrc", ".zim", ".zinit", ".antigen", ".zplug",
    ".p10k.zsh", ".config/zsh", ".config/fish", ".local/share/fish/vendor_conf.d",
    ".local/share/fish/vendor_functions.d", ".config/nushell", ".config/elvish", ".xonshrc",
    ".config/xonsh", ".config/powershell", ".aliases", ".exports", ".functions", ".path",
    ".inputrc", ".editrc", ".pam_environment", ".lessfilter", ".lesskey", ".fzf.bash", ".fzf.zsh",
    ".fzf", ".config/starship.toml", ".config/direnv", ".local/share/direnv/allow", ".direnvrc",
    ".config/mise", ".cargo/env", ".nvm/nvm.sh", ".nvm/bash_completion", ".sdkman/bin",
    ".asdf/asdf.sh", ".asdf/bin", ".pyenv/bin", ".pyenv/libexec", ".rbenv/bin", ".rbenv/libexec",
    ".rvm/scripts", ".iterm2_shell_integration.bash", ".iterm2_shell_integration.zsh",
)  # fmt: skip
"""Of shells: what they, distributions' own startup files and frameworks source."""

_SESSIONS: Final = (
    ".xprofile", ".xsession", ".xsessionrc", ".xinitrc", ".xserverrc", ".Xclients", ".xbindkeysrc",
    ".Xresources", ".Xdefaults", ".config/autostart", ".config/autostart-scripts",
    ".config/environment.d", ".config/systemd", ".local/share/systemd", ".config/dbus-1",
    ".local/share/dbus-1", ".local/share/applications", ".config/mimeapps.list",
    ".local/share/xsessions", ".local/share/wayland-sessions", ".config/plasma-workspace",
    ".kde/Autostart", ".kde/env", ".kde4/Autostart", ".kde4/env", ".config/khotkeysrc",
    ".config/kglobalshortcutsrc", ".local/share/kservices5", ".local/share/kio",
    ".local/share/plasma", ".local/share/kwin", ".local/share/gnome-shell/extensions",
    ".local/share/cinnamon", ".local/share/nautilus", ".local/share/nautilus-python",
    ".local/share/nemo", ".local/share/file-manager", ".config/sway", ".config/i3", ".i3",
    ".config/hypr", ".config/niri", ".config/river", ".config/labwc", ".config/wayfire.ini",
    ".config/awesome", ".config/bspwm", ".config/sxhkd", ".config/openbox", ".config/qtile",
    ".config/xmonad", ".xmonad", ".fluxbox", ".config/lxsession", ".config/lxqt", ".config/waybar",
    ".config/polybar", ".config/dunst", ".config/wireplumber", ".config/containers", ".forward",
    ".procmailrc", ".mailcap", "Library/LaunchAgents", "Library/Services",
    "Library/Application Scripts", ".hammerspoon", ".config/karabiner", ".config/yabai",
    ".config/skhd", ".yabairc", ".skhdrc",
)  # fmt: skip
"""Of desktops: what starts with them, or when a key is pressed or a file is opened. D-Bus and
systemd prefer a person's services to the system's of the same name; menus do with applications."""

_PROGRAMS: Final = (
    ".gitconfig", ".config/git", ".git-templates", ".gitattributes", ".hgrc", ".config/hg",
    ".jjconfig.toml", ".config/jj", ".config/gh", ".config/lazygit", ".tigrc", ".config/tig",
    ".ssh", ".docker/config.json", ".docker/cli-plugins", ".kube/config", ".aws/config", ".netrc",
    ".vimrc", ".gvimrc", ".vim", ".exrc", ".config/vim", ".config/nvim", ".local/share/nvim/site",
    ".local/share/nvim/lazy", ".ideavimrc", ".emacs", ".emacs.el", ".emacs.d", ".config/emacs",
    ".doom.d", ".config/doom", ".spacemacs", ".spacemacs.d", ".nanorc", ".config/nano",
    ".config/helix", ".config/kak", ".config/micro", ".config/zed/settings.json",
    ".config/zed/tasks.json", ".vscode/extensions", ".vscode-server/extensions",
    ".cursor/extensions", ".config/Code/User/settings.json", ".config/Code/User/tasks.json",
    ".config/VSCodium/User/settings.json", ".config/Cursor/User/settings.json",
    ".screenrc", ".tmux.conf", ".tmux", ".config/tmux", ".config/zellij", ".byobu",
    ".config/alacritty", ".config/kitty", ".config/wezterm", ".wezterm.lua", ".config/ghostty",
    ".config/foot", ".config/ranger", ".config/lf", ".config/yazi", ".config/mpv", ".muttrc",
    ".mutt", ".config/mutt", ".config/neomutt", ".pythonrc", ".pythonrc.py", ".pythonstartup",
    ".pythonstartup.py", ".config/python", ".ipython/profile_default/startup",
    ".ipython/profile_default/ipython_config.py", ".ipython/extensions", ".jupyter",
    ".local/share/jupyter/kernels", ".config/ptpython", ".config/bpython", ".pdbrc",
    ".config/pip", ".pip", ".pypirc", ".config/uv", ".condarc", ".config/matplotlib", ".irbrc",
    ".pryrc", ".gemrc", ".bundle", ".railsrc", ".perldb", ".npmrc", ".yarnrc", ".yarnrc.yml",
    ".config/pnpm", ".bunfig.toml", ".cargo/config", ".cargo/config.toml", ".gradle/init.gradle",
    ".gradle/init.d", ".gradle/gradle.properties", ".m2/settings.xml", ".m2/extensions.xml",
    ".mavenrc", ".config/composer", ".Rprofile", ".Renviron", ".julia/config", ".ghci",
    ".ocamlinit", ".guile", ".sbclrc", ".octaverc", ".sqliterc", ".psqlrc", ".gdbinit",
    ".gdbearlyinit", ".config/gdb", ".lldbinit", ".curlrc", ".config/curlrc", ".wgetrc",
    ".ansible.cfg", ".terraformrc", ".terraform.d/plugins", ".config/husky", ".huskyrc",
    ".claude/settings.json", ".codex/config.toml", ".config/Yubico",
)  # fmt: skip
"""Of everyday programs, which run what these name: hooks, plugins, helpers, credentials' programs,
a program as the editor or the pager."""

_SEARCHED: Final = (
    "bin", ".bin", ".local/bin", ".local/lib", "go/bin", ".cargo/bin", ".npm-global/bin",
    ".volta/bin", ".bun/bin", ".deno/bin", ".krew/bin", ".foundry/bin", ".dotnet/tools",
    ".pyenv/shims", ".rbenv/shims", ".asdf/shims", ".local/share/mise/shims", ".nix-profile",
    ".config/nix", ".config/nixpkgs", ".config/home-manager",
)  # fmt: skip
"""Where shells look for programs, and Python for a person's libraries."""

AT_HOME: Final = (*_SHELLS, *_SESSIONS, *_PROGRAMS, *_SEARCHED)

LIVELY: Final = frozenset({
    "fish_variables", "known_hosts", "known_hosts.old", "lazy-lock.json", "recentf",
    "viminfo",
})  # fmt: skip
"""Names in these folders that programs of the person's write to all the time; nothing runs for
them. They are closed to code, and no change of theirs is taken for its."""

OF_HOOKS: Final = (
    ".husky", "husky.config.js", "husky.config.cjs", ".git-hooks", ".githooks", "githooks",
    ".hooks", ".lefthook", ".lefthook-local", ".overcommit.yml", ".overcommit",
    ".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml", "captainhook.json",
    "grumphp.yml", "grumphp.yml.dist", "whistle.yml", "hk.pkl", ".rusty-hook.toml",
    *(
        f"{name}{ending}"
        for name in (
            ".commitlintrc", ".huskyrc", ".lefthook", ".lefthook-local", ".lintstagedrc",
            ".simple-git-hooks", "commitlint.config", "lefthook", "lefthook-local",
            "lint-staged.config", "simple-git-hooks",
        )
        for ending in ("", ".json", ".yaml", ".yml", ".toml", ".js", ".cjs", ".mjs", ".ts")
    ),
)  # fmt: skip
"""Of a project: what managers of git's hooks run, whatever the hook itself says."""


@functools.cache
def homes() -> frozenset[Path]:
    """Everybody's home folders."""
    found = {Path.home(), *(Path(user.pw_dir) for user in pwd.getpwall())}
    return frozenset(home for home in found if home != Path("/"))
