# setup.sh: what tools/tik and tools/check share, sourced by both with $root set to the source tree:
# finding out what is missing, installing it from the system's packages, configuring and building.
# Nothing here writes to standard output or reads standard input: those belong to the command that is run.

say() {
    printf 'libtik: %s\n' "$*" >&2
}

# Stops with status 2: what is wrong and what to do.
give_up() {
    say "$@"
    exit 2
}

# What a build takes: how to see that it is there, then its package for apt and for Homebrew ("-": part
# of the system's own developer tools).
build_needs='
command cc gcc -
header stdio.h libc6-dev -
command meson meson meson
command ninja ninja-build ninja
command pkg-config pkg-config pkgconf
library libpcre2-8 libpcre2-dev pcre2
library jansson libjansson-dev jansson
library libcurl libcurl4-openssl-dev curl
library libcrypto libssl-dev openssl@3
'

# What the tests take besides. The certificates are for installing the reference from its registry.
test_needs='
command clang clang -
command c++ g++ -
library cmocka libcmocka-dev cmocka
command python3 python3 python3
pytest - python3-pytest pytest
module ensurepip python3-venv -
file /etc/ssl/certs/ca-certificates.crt ca-certificates -
'

is_there() {
    case $1 in
    command) command -v "$2" ;;
    header) echo "#include <$2>" | cc -E - ;;
    library) pkg-config --exists "$2" ;;
    pytest) find_pytest ;;
    module) "${python:-python3}" -c "import $2" ;;
    file) [ -e "$2" ] || ! command -v apt-get ;;
    esac </dev/null >/dev/null 2>&1
}

# Sets $python to an interpreter that has pytest: the one on the PATH, else the system's own.
find_pytest() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import pytest' && return
    done
    python=python3
    return 1
}

# Runs a command with what it says in the log, and nothing to read.
logged() {
    "$@" </dev/null >>"$log" 2>&1
}

show_log() {
    tail -n 30 -- "$log" >&2
}

# Takes a list of needs; installs the packages of those that are not there.
install_missing() {
    packages=
    while read -r kind name apt brew; do
        [ -n "$kind" ] && ! is_there "$kind" "$name" || continue
        if command -v brew >/dev/null 2>&1; then
            [ "$brew" != - ] && packages="$packages $brew"
        else
            packages="$packages $apt"
        fi
    done <<EOF
$1
EOF
    [ -n "$packages" ] || return 0

    if command -v brew >/dev/null 2>&1; then
        say "installing$packages (Homebrew)"
        # shellcheck disable=SC2086
        logged brew install $packages || { show_log; give_up "Homebrew could not install$packages; see above"; }
    elif command -v apt-get >/dev/null 2>&1; then
        if [ "$(id -u)" = 0 ]; then
            as_root=
        elif command -v sudo >/dev/null 2>&1; then
            as_root=sudo
        else
            give_up "these packages are missing; as root: apt-get install$packages"
        fi
        say "installing$packages (apt)"
        install_with_apt || { sleep 5; install_with_apt; } || {
            show_log
            give_up "apt could not install$packages; see above, or install them by hand"
        }
    else
        give_up "these are missing (names of Debian's packages):$packages; install them and run this again"
    fi
}

# The lists may be locked by another process or out of reach: then those that are there must do.
install_with_apt() {
    # shellcheck disable=SC2086
    logged $as_root apt-get -q update ||:
    # shellcheck disable=SC2086
    logged $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
        install --no-install-recommends $packages
}

# Homebrew keeps some libraries out of the way of the system's.
find_libraries() {
    command -v brew >/dev/null 2>&1 || return 0
    prefix=$(brew --prefix)
    PKG_CONFIG_PATH=$prefix/opt/openssl@3/lib/pkgconfig:$prefix/opt/curl/lib/pkgconfig:${PKG_CONFIG_PATH-}
    export PKG_CONFIG_PATH
}

# One set-up at a time in this source tree; the lock ends with this process or with unlock.
lock() {
    mkdir -p -- "$root/build" || give_up "cannot make $root/build"
    if command -v flock >/dev/null 2>&1; then
        exec 9>"$root/build/setup.lock" || give_up "cannot write in $root/build"
        flock -n 9 || {
            say "waiting for another set-up of this tree"
            flock 9
        }
    else
        tries=0
        until mkdir -- "$root/build/setup.lock.d" 2>/dev/null; do
            tries=$((tries + 1))
            [ $tries -lt 900 ] || give_up "another set-up seems to be running; if not, remove $root/build/setup.lock.d"
            sleep 1
        done
        trap 'rmdir -- "$root/build/setup.lock.d"' EXIT
    fi
    log=$root/build/setup.log
    : >"$log" || give_up "cannot write in $root/build"
}

unlock() {
    if command -v flock >/dev/null 2>&1; then
        exec 9>&-
    else
        rmdir -- "$root/build/setup.lock.d"
        trap - EXIT
    fi
}

# build_in FOLDER OPTION…: configures if it is not, and builds. A folder knows where it lies: one that was
# moved or copied with its tree is configured anew.
build_in() {
    folder=$1
    shift
    if [ -e "$folder/source-tree" ] && [ "$(cat -- "$folder/source-tree")" != "$root" ]; then
        rm -rf -- "$folder/build.ninja" "$folder/meson-private" "$folder/source-tree"
    fi
    if ! [ -e "$folder/build.ninja" ]; then
        logged meson setup "$@" "$folder" "$root" || return 1
        printf '%s\n' "$root" >"$folder/source-tree" || return 1
    fi
    logged ninja -C "$folder"
}
