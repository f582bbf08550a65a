"""Which files programs of the host run unasked: of a home folder, and of a project by its hooks.

The rule: listed is every file or folder of a fixed name from which a program that the person did
not just name takes code, or the name of code, without asking about it: when they log in, open a
shell or a desktop, hear a sound, or start an everyday program in any folder. It is the narrowest
name that holds: a folder as a whole where it holds little else, and single files where programs
keep their state, or whole trees of libraries, beside them.

Not listed is what is asked about first (direnv's `.envrc`, an editor's tasks), what runs when a
person names it (a Makefile, `npm test`), what only changes how things look, and what lies in
folders whose names hold a version or chance (a browser's profile, an editor's settings of a year).
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
    ".config/bash", ".config/shell", ".config/sh", ".config/ksh", ".environment", ".login_conf",
    ".config/user-dirs.dirs", ".config/user-dirs.conf", ".config/locale.conf", ".i18n",
    ".config/atuin", ".config/carapace", ".config/thefuck", ".config/neofetch", ".config/fastfetch",
    ".nvm/alias", ".ackrc",
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
    ".xinputrc", ".xim", ".config/imsettings", ".config/uwsm", ".config/sx", ".config/X11",
    ".xscreensaver", ".dmrc", "startwm.sh", ".vnc/xstartup", ".vnc/config", ".config/tigervnc",
    ".rhosts", ".shosts", ".k5login", ".k5users", ".yubico", ".qmail", ".mailfilter",
    ".dovecot.sieve", ".config/user-tmpfiles.d", ".local/share/user-tmpfiles.d", ".config/rc",
    ".config/dinit.d", ".config/s6", ".config/runit", ".local/share/thumbnailers",
    ".local/share/kservices6", ".local/share/knotifications5", ".local/share/knotifications6",
    ".local/share/konsole", ".config/xfce4/xinitrc", ".config/xfce4/helpers.rc",
    ".config/xfce4/terminal", ".config/xfce4/panel",
    ".config/xfce4/xfconf/xfce-perchannel-xml/xfce4-keyboard-shortcuts.xml",
    ".config/Thunar/uca.xml", ".local/share/Thunar", ".config/dconf/user", ".config/nemo",
    ".config/caja", ".config/libfm", ".config/pcmanfm/default/pcmanfm.conf",
    ".local/share/contractor", ".config/xdg-terminals.list", ".config/swayidle", ".config/kanshi",
    ".config/mako", ".config/swaync", ".config/wofi", ".config/rofi", ".config/fuzzel",
    ".config/eww", ".config/ags", ".config/autorandr", ".config/espanso", ".config/swhkd",
    ".config/leftwm", ".config/herbstluftwm", ".config/spectrwm", ".spectrwm.conf", ".icewm",
    ".config/icewm", ".jwmrc", ".config/jwm", ".fvwm", ".fvwmrc", ".fvwm2rc", ".config/pekwm",
    ".pekwm", ".ratpoisonrc", ".stumpwmrc", ".stumpwm.d", ".config/stumpwm", ".sawfish",
    ".sawfishrc", "GNUstep", ".config/fcitx5/profile", ".local/share/fcitx5/addon",
    ".local/share/fcitx5/lua", "Library/LaunchDaemons",
    "Library/Preferences/com.apple.loginwindow.plist",
    "Library/Preferences/com.apple.loginitems.plist", "Library/PreferencePanes",
    "Library/QuickLook", "Library/Spotlight", "Library/Input Methods", "Library/Screen Savers",
    "Library/ColorPickers", "Library/Scripts", "Library/Workflows", "Library/Widgets",
    "Library/Mail/Bundles", "Library/Internet Plug-Ins", "Library/Contextual Menu Items",
    "Library/Application Support/iTerm2/Scripts", "Library/Application Support/xbar", ".MacOSX",
    ".aerospace.toml", ".config/aerospace", ".config/sketchybar", ".config/borders", ".phoenix.js",
    ".slate", ".slate.js",
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
    ".gnupg/gpg-agent.conf", ".gnupg/gpg.conf", ".gnupg/gpgsm.conf", ".gnupg/dirmngr.conf",
    ".gnupg/scdaemon.conf", ".gnupg/common.conf", ".config/jgit", ".config/glab-cli",
    ".config/pass-git-helper", ".aws/credentials", ".aws/cli", ".azure/cliextensions",
    ".config/k9s", ".config/helm", ".local/share/helm/plugins", ".vagrant.d/Vagrantfile",
    ".vagrant.d/plugins.json", ".packer.d", ".config/packer", ".ansible/plugins", ".chef",
    ".puppetlabs/etc", ".lftprc", ".lftp/rc", ".config/lftp", ".unison", ".mailrc", ".mbsyncrc",
    ".isyncrc", ".config/isyncrc", ".offlineimaprc", ".config/offlineimap", ".msmtprc",
    ".config/msmtp", ".fetchmailrc", ".notmuch-config", ".config/notmuch", ".getmail", ".fdm.conf",
    ".config/aerc", ".newsboat/config", ".newsboat/urls", ".config/newsboat", ".irssi/scripts",
    ".irssi/config", ".config/hexchat/addons", ".mozilla/native-messaging-hosts",
    ".mozilla/firefox/profiles.ini", ".mozilla/firefox/installs.ini", ".mozilla/plugins",
    ".thunderbird/profiles.ini", ".thunderbird/installs.ini",
    ".config/google-chrome/NativeMessagingHosts", ".config/chromium/NativeMessagingHosts",
    ".config/BraveSoftware/Brave-Browser/NativeMessagingHosts",
    ".config/microsoft-edge/NativeMessagingHosts", ".config/chrome-flags.conf",
    ".config/chromium-flags.conf", ".config/brave-flags.conf", ".config/electron-flags.conf",
    ".config/code-flags.conf", "Library/Application Support/Google/Chrome/NativeMessagingHosts",
    "Library/Application Support/Mozilla/NativeMessagingHosts",
    "Library/Application Support/Code/User/settings.json",
    "Library/Application Support/Code/User/tasks.json", "Library/Application Support/nushell",
    "Library/Application Support/Sublime Text/Packages", ".config/sublime-text/Packages",
    ".config/sublime-text-3/Packages", ".vifm/vifmrc", ".config/vifm/vifmrc",
    ".config/vifm/scripts", ".config/nnn/plugins", ".mc/menu", ".config/mc/menu",
    ".config/mc/mc.ext", ".config/mc/mc.ext.ini", ".config/broot", ".config/bat", ".config/zathura",
    ".config/imv", ".config/sxiv", ".config/nsxiv", ".mpv", ".config/vlc/vlcrc",
    ".local/share/vlc/lua", ".config/cmus/rc", ".cmus/rc", ".ncmpcpp/config",
    ".config/ncmpcpp/config", ".mpdconf", ".config/mpd/mpd.conf",
    ".config/libreoffice/4/user/Scripts", ".config/libreoffice/4/user/basic",
    ".config/libreoffice/4/user/uno_packages", ".config/GIMP/2.10/plug-ins",
    ".config/GIMP/2.10/scripts", ".config/GIMP/3.0/plug-ins", ".config/GIMP/3.0/scripts",
    ".config/inkscape/extensions", ".local/share/krita/pykrita", ".local/share/gedit/plugins",
    ".local/share/rhythmbox/plugins", ".local/share/totem/plugins", ".local/share/eog/plugins",
    ".local/share/pluma/plugins", ".config/obs-studio/plugins", ".devscripts", ".pbuilderrc",
    ".sbuildrc", ".config/sbuild", ".quiltrc", ".config/quilt", ".reportbugrc", ".dput.cf",
    ".rpmmacros", ".rpmrc", ".config/rpm", ".config/mock.cfg", ".config/mock", ".makepkg.conf",
    ".config/pacman", ".config/yay", ".config/paru", ".config/aurutils", ".oscrc", ".config/osc",
    ".config/homebrew", ".homebrew", ".local/share/flatpak/overrides", ".valgrindrc", ".perfconfig",
    ".config/perf", ".radare2rc", ".config/radare2", ".rizinrc", ".config/rizin", ".gef.rc",
    ".gdbinit.d", ".cgdb", ".config/cgdb", ".lldbinit-Xcode", ".lldbinit-lldb",
    ".ccache/ccache.conf", ".config/ccache", ".config/sccache", ".config/clangd", ".config/meson",
    ".config/go/env", ".rustup/settings.toml", ".iex.exs", ".erlang", ".clojure/deps.edn",
    ".config/clojure", ".lein/profiles.clj", ".boot", ".ammonite/predef.sc", ".groovy",
    ".juliarc.jl", ".racketrc", ".config/racket", ".clisprc", ".clisprc.lisp", ".eclrc",
    ".ccl-init.lisp", ".swiplrc", ".config/swi-prolog", ".maxima", ".sage/init.sage", ".gnuplot",
    ".config/gnuplot", ".my.cnf", ".mongorc.js", ".mongoshrc.js", ".mongodb/mongoshrc.js",
    ".redisclirc", ".tclshrc", ".wishrc", ".R/Makevars", ".pystartup", ".config/pythonrc.py",
    ".pydistutils.cfg", ".config/pypoetry", ".config/hatch", ".config/pdm", ".pylintrc",
    ".config/pylintrc", ".mypy.ini", ".config/mypy",
    ".ipython/profile_default/ipython_kernel_config.py", ".config/jupyter",
    ".local/share/jupyter/nbextensions", ".stack/config.yaml", ".stack/global-project",
    ".cabal/config", ".config/cabal", ".opam/opam-init", ".latexmkrc", ".config/latexmk",
    ".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml",
    ".eslintrc.yaml", ".prettierrc", ".prettierrc.js", ".prettierrc.cjs", ".prettierrc.json",
    ".babelrc", ".babelrc.js", ".babelrc.json", ".stylelintrc", ".stylelintrc.js",
    ".stylelintrc.json", ".config/yarn", ".config/npm", ".config/gem", ".config/irb", ".config/pry",
    ".config/rubocop", ".phprc", ".config/psysh", ".perltidyrc", ".perlcriticrc",
    ".config/chezmoi/chezmoi.toml", ".config/topgrade.toml", ".claude/settings.local.json",
    ".claude/hooks", ".claude/skills", ".claude/commands", ".claude/agents", ".claude/plugins",
    ".claude/CLAUDE.md", ".agents", ".codex/skills", ".codex/prompts", ".codex/AGENTS.md",
    ".gemini/GEMINI.md", ".gemini/commands", ".gemini/extensions", ".gemini/settings.json",
    ".config/opencode", ".aider.conf.yml",
    ".cursor/mcp.json", ".sbt/1.0/plugins", ".sbt/1.0/global.sbt", ".sbt/repositories",
    ".weechat/python", ".weechat/perl", ".local/share/weechat/python", ".local/share/weechat/perl",
)  # fmt: skip
"""Of everyday programs, which run what these name: hooks, plugins, helpers, credentials' programs,
a program as the editor or the pager; and of assistants, which take what these say for the
person's."""

_LOADED: Final = (
    ".asoundrc", ".config/alsa", ".config/pipewire", ".local/share/pipewire",
    ".local/share/wireplumber", ".config/pulse/default.pa", ".config/pulse/default.pa.d",
    ".config/pulse/system.pa", ".config/pulse/client.conf", ".config/pulse/client.conf.d",
    ".config/pulse/daemon.conf", ".config/pulse/daemon.conf.d", ".pulse",
    ".local/share/gstreamer-1.0", ".gstreamer-1.0", ".local/share/vulkan", ".config/vulkan",
    ".local/share/openxr", ".config/openxr", ".gtkrc", ".gtkrc-2.0", ".gtk-2.0", ".gtk-3.0",
    ".config/gtk-2.0/gtkrc", ".config/gtk-3.0/settings.ini", ".config/gtk-4.0/settings.ini",
    ".ladspa", ".dssi", ".lv2", ".vst", ".vst3", ".clap", ".frei0r-1", ".node_modules",
    "Library/Frameworks", "Library/Audio/Plug-Ins", "Library/Components", ".cmake/packages",
    "texmf", "Library/texmf", "Library/Python",
)  # fmt: skip
"""Of libraries, in every program that uses them: what sound, pictures, windows and languages load
as plugins, layers and modules, or start beside themselves."""

_SEARCHED: Final = (
    "bin", ".bin", ".local/bin", ".local/lib", "go/bin", ".cargo/bin", ".npm-global/bin",
    ".volta/bin", ".bun/bin", ".deno/bin", ".krew/bin", ".foundry/bin", ".dotnet/tools",
    ".pyenv/shims", ".rbenv/shims", ".asdf/shims", ".local/share/mise/shims", ".nix-profile",
    ".config/nix", ".config/nixpkgs", ".config/home-manager",
    ".cabal/bin", ".ghcup/bin", ".elan/bin", ".jbang/bin", ".composer/vendor/bin", ".guix-profile",
    ".config/guix", "miniconda3/bin", "anaconda3/bin", "mambaforge/bin", "miniforge3/bin",
    ".yarn/bin", ".gem/bin", "perl5/bin", ".luarocks/bin", ".local/share/pnpm/bin",
)  # fmt: skip
"""Where shells look for programs, and Python for a person's libraries."""

AT_HOME: Final = (*_SHELLS, *_SESSIONS, *_LOADED, *_PROGRAMS, *_SEARCHED)

LIVELY: Final = frozenset({
    "fish_variables", "known_hosts", "known_hosts.old", "lazy-lock.json", "recentf",
    "user", "viminfo",
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
