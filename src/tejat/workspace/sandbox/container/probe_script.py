"""The attempts of the probe as a bash script: an image need not have Python."""

# The same names and outcomes as in `probe`. Bash alone has to do: files of /proc say what it cannot try.
_ATTEMPTS = r"""
outside=$1 root=$2 pid=$3 marker=$4 port=$5 abstract=$6 memory=$7
umask 077

attempt() {
    local name=$1 words
    shift
    if words=$("$@" 2>&1 >/dev/null); then
        printf '%s\tdone\n' "$name"
    else
        words=${words##*: }
        printf '%s\t%s\n' "$name" "${words:-failed}"
    fi
}

write() { printf changed >> "$1"; }
read_secret() { [[ $(< "$outside/secret") == "a secret" ]]; }
plant() { mkdir -p "$root/missing" && write "$root/missing/settings"; }
shows() { local text; text=$(tr '\0' ' ' < "$1") && [[ $text == *"$2"* ]]; }
connect() {
    shows /proc/net/tcp "$(printf '0100007F:%04X 00000000:0000 0A' "$port")" ||
        { exec 3<> "/dev/tcp/127.0.0.1/$port"; }
}
connect_by_path() { [[ -S $outside/socket ]]; }
connect_abstract() { shows /proc/net/unix "@$abstract"; }
see() { shows "/proc/$pid/cmdline" "$marker"; }
look_into() { shows "/proc/$pid/environ" "$marker"; }
end() { see && kill -15 "$pid"; }
share_memory() { shows /proc/sysvipc/shm " $memory "; }

attempt "write in the root" write "$root/allowed"
attempt "create a file outside" write "$outside/made"
attempt "change a file outside" write "$outside/there"
attempt "change permissions of a file outside" chmod 644 "$outside/kept"
attempt "change timestamps of a file outside" touch -t 197001010000 "$outside/kept"
attempt "set an attribute of a file outside" setfattr -n user.tejat -v x "$outside/kept"
attempt "truncate a file outside" eval ': > "$outside/there"'
attempt "delete a file outside" rm "$outside/there"
attempt "read a secret" read_secret
attempt "change a control file" write "$root/control"
attempt "move a control file" mv "$root/control" "$root/moved"
attempt "create a control file" plant
attempt "open a TCP connection" connect
attempt "connect to a Unix socket" connect_by_path
attempt "connect to an abstract socket" connect_abstract
attempt "see a process" see
attempt "inspect a process" look_into
attempt "signal a process" end
attempt "share memory with a process" share_memory
echo end
"""

PROBE_ARGV = ("/bin/bash", "--norc", "--noprofile", "-c", _ATTEMPTS, "probe")
"""The argv prefix of the script. The sandbox looks bash up on the image's own PATH."""
