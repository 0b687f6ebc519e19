# Completes each line in an interactive zsh on a pseudo terminal, and prints "> LINE" and the matches.
# Usage: zsh -f -c THIS zsh SCRIPT LINE ...
zmodload zsh/zpty
script=$1; shift
dir=$script.dir; mkdir $dir; cd $dir
zpty -b shell zsh -f -i
read_until() { local out all=""; repeat 6000; do if zpty -r shell out; then all+=$out; [[ $all == *$1* ]] && return 0; else sleep 0.01; fi; done; return 1 }
{
  print -r -- 'PS1=""; PS2=""; unsetopt zle_bracketed_paste prompt_sp; autoload -Uz compinit; compinit -D -u; source '$script
  print -r -- 'null-line() { zle kill-whole-line }; zle -N null-line'
  print -r -- 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; typeset -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >> matches; return 1 }'
  print -r -- 'zstyle ":completion:*" completer _complete; finish() { zle kill-whole-line; : >> done-mark; }; zle -N finish; bindkey "^I" complete-word "^B" finish'
  print -r -- 'echo rea""dy'
} > setup
zpty -w shell 'source ./setup'
read_until ready || { print -u2 "zsh did not start"; exit 1 }
for line in "$@"; do
  print -r -- "> $line"
  rm -f matches done-mark
  zpty -w -n shell "tejat $line"$'\t'$'\x02'
  repeat 6000; do [[ -e done-mark ]] && break; zpty -r -t shell discard; sleep 0.01; done
  [[ -e matches ]] && sort -u matches
done
zpty -d shell
true
