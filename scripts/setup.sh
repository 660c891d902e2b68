# Sourced by the other scripts: looks for what a build and a run need, and installs it with apt where that is allowed.
# need COMMAND PACKAGE …: pairs of a command and the Debian package that brings it.
need() {
    local packages=() missing=()
    while [ $# -ge 2 ]; do
        if ! command -v "$1" >/dev/null 2>&1; then
            missing+=("$1")
            packages+=("$2")
        fi
        shift 2
    done
    [ ${#packages[@]} -eq 0 ] && return 0
    local sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        sudo="sudo -n"
    fi
    if command -v apt-get >/dev/null 2>&1 && { [ -z "$sudo" ] || $sudo true 2>/dev/null; }; then
        echo "installing: ${packages[*]}" >&2
        # A list of packages that cannot be renewed may still hold what is wanted.
        $sudo apt-get update -qq >&2 || true
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "${packages[@]}" >&2
    else
        echo "missing: ${missing[*]}" >&2
        echo "install them and start again: apt-get install ${packages[*]}" >&2
        return 1
    fi
}

need_rust() {
    command -v cargo >/dev/null 2>&1 && return 0
    echo "missing: cargo (Rust 1.95 or newer; https://rustup.rs)" >&2
    return 1
}
