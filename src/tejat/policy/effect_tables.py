"""What known programs do besides reading: tables of names and options, for `effects.py` to look up."""

from collections.abc import Mapping

from tejat.policy.words import names

# Whatever their options are, they write.
WRITING = names(
    """
    7z 7za ar apply bunzip2 bzip2 chattr chgrp chmod chown compress cp cpio csplit dd ditto fallocate gunzip gzip
    install link ln lz4 mkdir mkfifo mknod mktemp mv pax patch rename rsync scp setfacl sftp split sponge symlink
    tee touch truncate uncompress unrar unxz unzip unzstd wget xattr xz zip zstd copy move ren xcopy robocopy md
    copy-item move-item new-item rename-item set-content add-content out-file ni mi cpi sc ac
    """
)
# They delete or overwrite what may be the only copy, or stop the machine.
DESTROYING = names(
    """
    rm rmdir unlink shred srm wipe wipefs trash trash-put rmtrash gio-trash truncate dd mkfs mke2fs mkswap fdisk
    sfdisk parted sgdisk blkdiscard hdparm shutdown reboot halt poweroff kill killall pkill userdel groupdel dropdb
    crontab del erase rd remove-item ri clear-content clc format diskpart remove-itemproperty clear-item cli rimraf
    """
)
# They run code of their own files, of the project or of what they are given.
RUNNING = names(
    """
    ant asdf at batch bazel bpython buck buck2 bun bundle cargo cmake conda corepack cpan crontab csi deno direnv
    docker docker-compose doit dotnet ed elixir emacs emacsclient erl ex expect fastlane gem gdb ghci gmake go
    gradle gradlew groovy guile hatch helm hg invoke ipython irb java jest joe jshell julia jupyter just kubectl
    less lldb lua luajit m4 make man mage mask meson micro mill mocha more most msbuild mvn mvnw mysql nano nc ncat
    netcat newlisp ninja node nodejs nox npm npx nvim ocaml osascript parallel pdm perl pico pip pip3 pipenv pipx
    php pnpm pnpx podman poetry pre-commit psql puppet pwsh pytest py.test python python2 python3 pypy pypy3 R rake
    rails rbenv rhino rlwrap Rscript ruby runghc sbt scala scons screen script socat sqlite3 ssh stack su swift task
    tclsh telnet terraform tmux tox ts-node tsx uv uvx vagrant vi view vim vimdiff vitest watch yarn zig bash sh zsh
    dash ksh ksh93 mksh ash fish rbash yash csh tcsh cmd cmd.exe powershell powershell.exe pwsh env sudo doas su
    runuser nohup nice ionice timeout setsid stdbuf time chrt taskset chroot unshare nsenter bwrap flock strace
    ltrace xargs busybox toybox eatmydata fakeroot proot systemd-run entr exec eval source . command builtin coproc
    """
)

# Options, per program. A short one is found within a cluster too, a long one when it is cut short.
WRITING_OPTIONS: Mapping[str, frozenset[str]] = {
    "awk": names("-d -o -p --dump-variables --pretty-print --profile"),
    "base64": names("-o --output"),
    "curl": names(
        "-o -O -J -c -D --output --remote-name --remote-name-all --output-dir --cookie-jar --dump-header --trace"
        " --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save"
    ),
    "date": names("-s --set"),
    "diff": names("--output"),
    "file": names("-C --compile"),
    "find": names("-fprint -fprint0 -fprintf -fls"),
    "hostname": names("-b -F --file"),
    "iconv": names("-o --output"),
    "jq": names("-i --in-place"),
    "perl": names("-i"),
    "ruby": names("-i"),
    "ruff": names("--fix --unsafe-fixes -o --output-file"),
    "sed": names("-i --in-place"),
    "shuf": names("-o --output"),
    "sort": names("-o --output"),
    "tar": names(
        "-x -c -r -u -A -g --extract --get --create --append --update --concatenate --catenate --index-file"
        " --listed-incremental"
    ),
    "tree": names("-o -R"),
    "yq": names("-i --inplace -s --split-exp"),
}
DESTROYING_OPTIONS: Mapping[str, frozenset[str]] = {
    "find": names("-delete"),
    "rsync": names(
        "--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --remove-source-files"
    ),
    "tar": names("--remove-files --delete --recursive-unlink --unlink-first -U"),
    "zip": names("-m --move -d --delete"),
    "7z": names("-sdel"),
    "wget": names("--delete-after"),
    "gzip": names("-f --force"),
    "mv": names("-f --force"),
    "ln": names("-f --force"),
}
RUNNING_OPTIONS: Mapping[str, frozenset[str]] = {
    "bash": names("-c"),
    "sh": names("-c"),
    "curl": names("-K --config"),
    "deno": names("eval"),
    "emacs": names("--eval --execute -l --load --batch"),
    "fd": names("-x -X --exec --exec-batch"),
    "find": names("-exec -execdir -ok -okdir"),
    "gcc": names("-wrapper -B -fplugin"),
    "lua": names("-e"),
    "man": names("-P -H --pager --html"),
    "node": names("-e -p -r --eval --print --require --import --loader"),
    "perl": names("-e -E -M -m"),
    "php": names("-r -B -R -E"),
    "python": names("-c -m"),
    "python3": names("-c -m"),
    "rg": names("--pre --pre-glob --hostname-bin -z --search-zip"),
    "rsync": names("-e --rsh --rsync-path"),
    "ruby": names("-e -r"),
    "scp": names("-o -S -F"),
    "sed": names("-f --file"),
    "awk": names("-f -i -l -D -E -W --file --include --load --debug --exec"),
    "sftp": names("-o -S -F -b"),
    "sort": names("--compress-program"),
    "split": names("--filter"),
    "ssh": names("-o -F"),
    "tar": names(
        "--to-command --use-compress-program -I --checkpoint-action --info-script --new-volume-script -F"
        " --rsh-command --rmt-command"
    ),
    "tcpdump": names("-z"),
    "vim": names("-c -S --cmd"),
    "wget": names("-e --execute --use-askpass"),
    "zip": names("-T -TT --test --unzip-command"),
    "jq": names("-L --library-path -f --from-file"),
}
# Options with one dash and a name of several letters, never a cluster.
LONG_WITH_ONE_DASH = names("find gfind java gcc g++ clang cc go terraform openssl")

# Subcommands that delete, wherever they stand among the words.
DESTROYING_WORDS: Mapping[str, frozenset[str]] = {
    "docker": names("rm rmi prune kill down remove"),
    "docker-compose": names("rm down kill"),
    "podman": names("rm rmi prune kill down remove reset"),
    "cp": names("/dev/null"),
    "kubectl": names("delete drain replace"),
    "oc": names("delete"),
    "helm": names("delete uninstall rollback"),
    "terraform": names("destroy taint -destroy"),
    "tofu": names("destroy taint -destroy"),
    "pulumi": names("destroy"),
    "vagrant": names("destroy"),
    "aws": names(
        "rm rb delete-object delete-objects delete-bucket delete-stack delete-table terminate-instances"
        " delete-db-instance --delete delete-function delete-user delete-volume delete-snapshot"
    ),
    "gcloud": names("delete rm"),
    "gsutil": names("rm rb -d"),
    "az": names("delete purge"),
    "gh": names("delete"),
    "npm": names("unpublish uninstall prune remove rm"),
    "yarn": names("remove"),
    "pnpm": names("remove prune"),
    "cargo": names("clean yank uninstall"),
    "pip": names("uninstall"),
    "pip3": names("uninstall"),
    "apt": names("remove purge autoremove"),
    "apt-get": names("remove purge autoremove"),
    "dnf": names("remove erase"),
    "yum": names("remove erase"),
    "brew": names("uninstall remove rm cleanup"),
    "pacman": names("-R -Rs -Rns"),
    "make": names("clean distclean mrproper"),
    "svn": names("revert delete rm remove cleanup"),
    "hg": names("purge strip revert update"),
    "redis-cli": names("FLUSHALL FLUSHDB DEL flushall flushdb del"),
    "systemctl": names("stop disable mask poweroff reboot"),
    "launchctl": names("remove unload bootout"),
    "virsh": names("destroy undefine"),
    "zfs": names("destroy rollback"),
    "zpool": names("destroy"),
    "gio": names("trash remove"),
    "heroku": names("destroy apps:destroy pg:reset"),
    "dotnet": names("clean"),
    "mvn": names("clean"),
    "gradle": names("clean"),
    "rails": names("db:drop db:reset"),
    "rake": names("db:drop db:reset"),
}
SQL_CLIENTS = names("psql mysql mariadb sqlite3 sqlcmd mongo mongosh clickhouse-client bq cqlsh duckdb redis-cli")

# Read and print, whatever their options are, once the tables above have nothing against them.
READ_ONLY = names(
    """
    arch b2sum base32 base64 basename cal cat cksum cmp column comm cut date df diff diff3 dirname du echo egrep
    expand expr factor false fgrep file find fmt fold free getconf grep groups head hexdump hostid iconv id join jq
    locale logname ls lsblk lscpu md5sum nl nproc numfmt od paste pathchk pr printf ps pwd readlink realpath rev rg
    seq sha1sum sha224sum sha256sum sha384sum sha512sum shuf sleep sort stat strings sum tac tail test tr tree true
    tsort tty type uname unexpand uniq uptime wc whereis which whoami xxd [
    """
)
# Their operands are text, not places.
TALKING = names("echo printf true false expr seq sleep test [ :")
# The first operand is what they look for.
SEARCHING = names("grep egrep fgrep rg ag ack")
