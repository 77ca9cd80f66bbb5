# What users give to scripts/*: help, and what is wrong with it, on one line, with exit code 2.
# Sourced, by sh too: a bundle carries it.

# refuse SUBJECT PROBLEM
refuse() {
  echo "$1:1:1: error: $2" >&2
  exit 2
}

# print_help ARGUMENTS...: where they ask for it, the comment at the top of the script.
print_help() {
  case ${1-} in
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
  esac
}

# require_none ARGUMENTS...: help is all that can be asked for.
require_none() {
  print_help "$@"
  [ $# -eq 0 ] || refuse "$0" "unknown argument '$1' (it takes none)"
}

# require_text NAME TEXT: an empty text is no value, but a variable that a shell had not set.
require_text() { [ -n "$2" ] || refuse "$1" "missing value (the text is empty)"; }

# require_folder FOLDER: that it can be written to, or made, found out without making it.
require_folder() {
  case $1 in -*) refuse "$0" "unknown option '$1'" ;; esac
  existing=$1
  while ! [ -e "$existing" ] && ! [ -L "$existing" ]; do existing=$(dirname "$existing"); done
  [ -d "$existing" ] || refuse "$1" "cannot create the folder ('$existing' is no folder)"
  if ! { probe=$(mktemp -d "$existing/probe.XXXXXX") && rmdir "$probe"; } 2>/dev/null; then
    refuse "$1" "cannot create the folder ('$existing' cannot be written to)"
  fi
}

# require_rounds: DEPTHCOST_ROUNDS, or eight, into `rounds`.
require_rounds() {
  rounds=${DEPTHCOST_ROUNDS:-8}
  case $rounds in
    [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
    *) refuse DEPTHCOST_ROUNDS "invalid value '$rounds' (must be a whole number from 1 to 999)" ;;
  esac
}
