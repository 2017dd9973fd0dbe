# Completes a command line: complete.sh SCRIPT WORD-INDEX WORDS...
. "$1"
COMP_CWORD=$2
shift 2
COMP_WORDS=(onnxq "$@")
_onnxq
printf '%s\n' "${COMPREPLY[@]}"
