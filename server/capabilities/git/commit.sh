# Commits FILES in the repository TOP with MESSAGE, on the new BRANCH if one is named, and says WORD
# when that is done. SHOWN: what the files are called to the person. FORMER: git's name of what each
# held before the request, empty where nothing was. WHOLE: whether it goes in with earlier changes.
export GIT_LITERAL_PATHSPECS=1
sayso_git() { command git -c core.fsmonitor=false "$@"; }
sayso_commit() {
    cd -- "$TOP" || return 1
    local index keep old="" new=() dirty=() staged=() i name before
    for i in "${!FILES[@]}"; do
        [ -n "${WHOLE[i]}" ] && continue
        sayso_git diff --cached --quiet -- "${FILES[i]}" || staged+=("${SHOWN[i]}")
        [ "${FORMER[i]}" = unknown ] && continue
        before=$(sayso_git rev-parse -q --verify "HEAD:${FILES[i]}" 2>/dev/null)
        [ "$before" = "${FORMER[i]}" ] || dirty+=("${SHOWN[i]}")
    done
    if [ ${#staged[@]} -gt 0 ]; then
        echo "Staged already, so perhaps for another commit: ${staged[*]}." >&2
    fi
    if [ ${#dirty[@]} -gt 0 ]; then
        echo "Changed before this request and not committed then: ${dirty[*]}." >&2
    fi
    if [ ${#staged[@]} -gt 0 ] || [ ${#dirty[@]} -gt 0 ]; then
        echo "Ask the person whether these go in as they are (as_they_are), or commit without them." >&2
        return 3
    fi
    index=$(sayso_git rev-parse --git-path index) || return 1
    keep=$(mktemp) || return 1
    [ -f "$index" ] && cp -p -- "$index" "$keep"
    if [ -n "$BRANCH" ]; then
        sayso_git check-ref-format --branch "$BRANCH" >/dev/null || return 1
        if sayso_git show-ref --verify --quiet "refs/heads/$BRANCH"; then
            echo "There is a branch $BRANCH already." >&2
            return 1
        fi
        old=$(sayso_git symbolic-ref -q HEAD || sayso_git rev-parse HEAD)
        sayso_git symbolic-ref HEAD "refs/heads/$BRANCH" || return 1
        if sayso_git rev-parse -q --verify "$old" >/dev/null; then
            sayso_git update-ref "refs/heads/$BRANCH" "$old" || return 1
        fi
    fi
    for name in "${FILES[@]}"; do
        if [ -e "$name" ] || [ -L "$name" ]; then
            sayso_git ls-files --error-unmatch -- "$name" >/dev/null 2>&1 || new+=("$name")
        fi
    done
    if { [ ${#new[@]} -eq 0 ] || sayso_git add -N -- "${new[@]}"; } &&
        printf '%s\n' "$MESSAGE" | sayso_git commit --only --cleanup=whitespace -F - -- "${FILES[@]}"; then
        rm -f -- "$keep"
        echo "$WORD committed"
        return 0
    fi
    if [ -s "$keep" ]; then cp -p -- "$keep" "$index"; else rm -f -- "$index"; fi
    rm -f -- "$keep"
    if [ -n "$BRANCH" ]; then
        case "$old" in
            refs/*) sayso_git symbolic-ref HEAD "$old" ;;
            *) sayso_git update-ref --no-deref HEAD "$old" ;;
        esac
        sayso_git update-ref -d "refs/heads/$BRANCH" 2>/dev/null
    fi
    return 1
}
sayso_commit
