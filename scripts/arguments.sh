# Checks the arguments of scripts/*: prints help, or one line of error with exit code 2. Sourced by
# bash, and by sh in a bundle.

# refuse SUBJECT PROBLEM
refuse() {
  echo "$1:1:1: error: $2" >&2
  exit 2
}

# print_help ARGUMENTS...: prints the comment at the top of the script if they ask for help.
print_help() {
  case ${1-} in
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
  esac
}

# require_none ARGUMENTS...: refuses every argument but those for help.
require_none() {
  print_help "$@"
  [ $# -eq 0 ] || refuse "$0" "unknown argument '$1' (it takes none)"
}

# require_text NAME TEXT: refuses an empty text, which is usually a shell variable that was not set.
require_text() { [ -n "$2" ] || refuse "$1" "missing value (the text is empty)"; }

# require_folder FOLDER: refuses a folder that cannot be written to or made. Does not make it.
require_folder() {
  case $1 in -*) refuse "$0" "unknown option '$1'" ;; esac
  existing=$1
  while ! [ -e "$existing" ] && ! [ -L "$existing" ]; do existing=$(dirname "$existing"); done
  [ -d "$existing" ] || refuse "$1" "cannot create the folder ('$existing' is no folder)"
  if ! { probe=$(mktemp -d "$existing/probe.XXXXXX") && rmdir "$probe"; } 2>/dev/null; then
    refuse "$1" "cannot create the folder ('$existing' cannot be written to)"
  fi
}

# require_rounds: sets `rounds` to DEPTHCOST_ROUNDS, or to 8.
require_rounds() {
  rounds=${DEPTHCOST_ROUNDS:-8}
  case $rounds in
    [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
    *) refuse DEPTHCOST_ROUNDS "invalid value '$rounds' (must be a whole number from 1 to 999)" ;;
  esac
}
