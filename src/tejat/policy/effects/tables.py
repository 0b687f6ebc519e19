"""Tables of programs and options with effects beyond reading."""

from collections.abc import Mapping

from tejat.policy.shell.words import word_set

# Programs that always write.
WRITING_PROGRAMS = word_set(
    """
    7z 7za ar apply bunzip2 bzip2 chattr chgrp chmod chown compress cp cpio csplit dd ditto fallocate gunzip gzip
    install link ln lz4 mkdir mkfifo mknod mktemp mv pax patch rename rsync scp setfacl sftp split sponge symlink
    tee touch truncate uncompress unrar unxz unzip unzstd wget xattr xz zip zstd copy move ren xcopy robocopy md
    copy-item move-item new-item rename-item set-content add-content out-file ni mi cpi sc ac
    """
)
# Programs that delete or overwrite data, or stop the machine.
DESTRUCTIVE_PROGRAMS = word_set(
    """
    rm rmdir unlink shred srm wipe wipefs trash trash-put rmtrash gio-trash truncate dd mkfs mke2fs mkswap fdisk
    sfdisk parted sgdisk blkdiscard hdparm shutdown reboot halt poweroff kill killall pkill userdel groupdel dropdb
    crontab del erase rd remove-item ri clear-content clc format diskpart remove-itemproperty clear-item cli rimraf
    """
)
# Those among them that stop something.
STOPPING_PROGRAMS = word_set("shutdown reboot halt poweroff kill killall pkill")
# Programs that run code: their own files, the project's, or their input.
CODE_RUNNERS = word_set(
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

# Options per program; short ones also match in clusters, long ones when abbreviated.
WRITE_OPTIONS: Mapping[str, frozenset[str]] = {
    "awk": word_set("-d -o -p --dump-variables --pretty-print --profile"),
    **dict.fromkeys(("base64", "iconv", "shuf", "sort"), word_set("-o --output")),
    "curl": word_set(
        "-o -O -J -c -D --output --remote-name --remote-name-all --output-dir --cookie-jar --dump-header --trace"
        " --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save"
    ),
    "date": word_set("-s --set"),
    "diff": word_set("--output"),
    "file": word_set("-C --compile"),
    "find": word_set("-fprint -fprint0 -fprintf -fls"),
    "hostname": word_set("-b -F --file"),
    **dict.fromkeys(("jq", "sed"), word_set("-i --in-place")),
    **dict.fromkeys(("perl", "ruby"), word_set("-i")),
    "ruff": word_set("--fix --unsafe-fixes -o --output-file"),
    "tar": word_set(
        "-x -c -r -u -A -g --extract --get --create --append --update --concatenate --catenate --index-file"
        " --listed-incremental"
    ),
    "tree": word_set("-o -R"),
    "yq": word_set("-i --inplace -s --split-exp"),
}
DESTRUCTIVE_OPTIONS: Mapping[str, frozenset[str]] = {
    "find": word_set("-delete"),
    "rsync": word_set(
        "--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --remove-source-files"
    ),
    "tar": word_set("--remove-files --delete --recursive-unlink --unlink-first -U"),
    "zip": word_set("-m --move -d --delete"),
    "7z": word_set("-sdel"),
    "wget": word_set("--delete-after"),
    **dict.fromkeys(("gzip", "mv", "ln"), word_set("-f --force")),
}
CODE_OPTIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("bash", "sh"), word_set("-c")),
    "curl": word_set("-K --config"),
    "deno": word_set("eval"),
    "emacs": word_set("--eval --execute -l --load --batch"),
    "fd": word_set("-x -X --exec --exec-batch"),
    "find": word_set("-exec -execdir -ok -okdir"),
    "gcc": word_set("-wrapper -B -fplugin"),
    "lua": word_set("-e"),
    "man": word_set("-P -H --pager --html"),
    "node": word_set("-e -p -r --eval --print --require --import --loader"),
    "perl": word_set("-e -E -M -m"),
    "php": word_set("-r -B -R -E"),
    **dict.fromkeys(("python", "python3"), word_set("-c -m")),
    "rg": word_set("--pre --pre-glob --hostname-bin -z --search-zip"),
    "rsync": word_set("-e --rsh --rsync-path"),
    "ruby": word_set("-e -r"),
    "scp": word_set("-o -S -F"),
    "sed": word_set("-f --file"),
    "awk": word_set("-f -i -l -D -E -W --file --include --load --debug --exec"),
    "sftp": word_set("-o -S -F -b"),
    "sort": word_set("--compress-program"),
    "split": word_set("--filter"),
    "ssh": word_set("-o -F"),
    "tar": word_set(
        "--to-command --use-compress-program -I --checkpoint-action --info-script --new-volume-script -F"
        " --rsh-command --rmt-command"
    ),
    "tcpdump": word_set("-z"),
    "vim": word_set("-c -S --cmd"),
    "wget": word_set("-e --execute --use-askpass"),
    "zip": word_set("-T -TT --test --unzip-command"),
    "jq": word_set("-L --library-path -f --from-file"),
}
# Programs whose options have one dash and a long name, never a cluster.
SINGLE_DASH_PROGRAMS = word_set("find gfind java gcc g++ clang cc go terraform openssl")

# Programs that write files whose names they choose themselves, in the current directory unless another one is given.
TREE_PROGRAMS = word_set("7z 7za bsdtar cpio csplit ditto pax sftp split unrar unzip wget")
# Options with which a program goes through a directory and follows the links in it, or writes through them.
TREE_OPTIONS: Mapping[str, frozenset[str]] = {
    "ag": word_set("-f --follow"),
    "cp": word_set("-a -r -R --archive --recursive"),
    "curl": word_set("-O -J --remote-name --remote-name-all --output-dir"),
    "diff": word_set("-r --recursive"),
    "du": word_set("-L --dereference"),
    "fd": word_set("-L --follow"),
    "find": word_set("-L -follow"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), word_set("-R --dereference-recursive")),
    "ls": word_set("-L --dereference"),
    "rg": word_set("-L --follow"),
    "rsync": word_set("-L -k -K --copy-links --copy-dirlinks --copy-unsafe-links --keep-dirlinks"),
    "scp": word_set("-r"),
    "tar": word_set("-x -h --dereference --extract --get"),
    "tree": word_set("-l"),
    "zip": word_set("-r -R --recurse-paths --recurse-patterns"),
}
# Programs and options that may create links, or move them to where they lead elsewhere.
LINK_PROGRAMS = word_set("7z 7za bsdtar cpio ditto link ln mv patch pax rename rsync unrar unzip")
LINK_OPTIONS: Mapping[str, frozenset[str]] = {
    "cp": word_set("-a -d -l -P -r -R -s --archive --link --no-dereference --preserve --recursive --symbolic-link"),
    "tar": word_set("-x --extract --get"),
}

# Subcommands that delete, anywhere among the words.
DESTRUCTIVE_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "docker": word_set("rm rmi prune kill down remove"),
    "docker-compose": word_set("rm down kill"),
    "podman": word_set("rm rmi prune kill down remove reset"),
    "cp": word_set("/dev/null"),
    "kubectl": word_set("delete drain replace"),
    **dict.fromkeys(("oc", "gh"), word_set("delete")),
    "helm": word_set("delete uninstall rollback"),
    **dict.fromkeys(("terraform", "tofu"), word_set("destroy taint -destroy")),
    **dict.fromkeys(("pulumi", "vagrant", "zpool"), word_set("destroy")),
    "aws": word_set(
        "rm rb delete-object delete-objects delete-bucket delete-stack delete-table terminate-instances"
        " delete-db-instance --delete delete-function delete-user delete-volume delete-snapshot"
    ),
    "gcloud": word_set("delete rm"),
    "gsutil": word_set("rm rb -d"),
    "az": word_set("delete purge"),
    "npm": word_set("unpublish uninstall prune remove rm"),
    "yarn": word_set("remove"),
    "pnpm": word_set("remove prune"),
    "cargo": word_set("clean yank uninstall"),
    **dict.fromkeys(("pip", "pip3"), word_set("uninstall")),
    **dict.fromkeys(("apt", "apt-get"), word_set("remove purge autoremove")),
    **dict.fromkeys(("dnf", "yum"), word_set("remove erase")),
    "brew": word_set("uninstall remove rm cleanup"),
    "pacman": word_set("-R -Rs -Rns"),
    "make": word_set("clean distclean mrproper"),
    "svn": word_set("revert delete rm remove cleanup"),
    "hg": word_set("purge strip revert update"),
    "redis-cli": word_set("FLUSHALL FLUSHDB DEL flushall flushdb del"),
    "systemctl": word_set("stop disable mask poweroff reboot"),
    "launchctl": word_set("remove unload bootout"),
    "virsh": word_set("destroy undefine"),
    "zfs": word_set("destroy rollback"),
    "gio": word_set("trash remove"),
    "heroku": word_set("destroy apps:destroy pg:reset"),
    **dict.fromkeys(("dotnet", "mvn", "gradle"), word_set("clean")),
    **dict.fromkeys(("rails", "rake"), word_set("db:drop db:reset")),
}
SQL_CLIENTS = word_set("psql mysql mariadb sqlite3 sqlcmd mongo mongosh clickhouse-client bq cqlsh duckdb redis-cli")

# Programs that only read and print, unless a table above says otherwise.
READ_ONLY_PROGRAMS = word_set(
    """
    arch b2sum base32 base64 basename cal cat cksum cmp column comm cut date df diff diff3 dirname du echo egrep
    expand expr factor false fgrep file find fmt fold free getconf grep groups head hexdump hostid iconv id join jq
    locale logname ls lsblk lscpu md5sum nl nproc numfmt od paste pathchk pr printf ps pwd readlink realpath rev rg
    seq sha1sum sha224sum sha256sum sha384sum sha512sum shuf sleep sort stat strings sum tac tail test tr tree true
    tsort tty type uname unexpand uniq uptime wc whereis which whoami xxd [
    """
)
# Programs whose operands are text, not paths.
TEXT_PROGRAMS = word_set("echo printf true false expr seq sleep test [ :")
# Programs whose first operand is a search pattern.
PATTERN_PROGRAMS = word_set("grep egrep fgrep rg ag ack")
