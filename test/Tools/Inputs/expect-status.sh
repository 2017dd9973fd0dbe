# expect-status.sh STATUS COMMAND...: whether a command ends with a status.
expected=$1
shift
"$@" >/dev/null 2>&1
status=$?
[ "$status" -eq "$expected" ] || { echo "expects exit status $expected, but got $status: $*"; exit 1; }
