# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Helpers for the tests of the MongoDB driver. Source lib.sh first.

# command JSON: executes it with another client and prints the reply as JSON.
command() { echo "$1" | $CLIENT 2>>client.log; }

# number_of collection: prints the number of its documents.
number_of() {
    command "{\"count\": \"$1\"}" | sed -n 's/.*"n": *\([0-9]*\).*/\1/p'
}

# prepared workload [argument...]: prepares it; an error fails the test.
prepared() {
    try "$SYSBENCH" "$1" "${options[@]}" "${@:2}" prepare
    [ "$st" = 0 ] || ok 1 "prepare of $1"
}

# right workload [argument...]: whether its check command succeeds.
right() {
    try "$SYSBENCH" "$1" "${options[@]}" --table-size=200 "${@:2}" check
    [ "$st" = 0 ]
}

# Inserts one document per event. No counted event may be missing.
cat >ledger.lua <<'LUA'
require("held")
sysbench.cmdline.options = {ledger = {"its collection", "ledger"}}
local row = 0
function thread_init() con = sysbench.sql.driver():connect() end
function event(tid)
   row = row + 1
   while held(row) do con:query('{"ping": 1}') end
   con:query(('{"insert": "%s", "documents": [{"_id": %d}]}'):format(
      sysbench.opt.ledger, tid * 1e6 + row))
end
LUA

# ledger_is_right: there is a document for each event. There may be more only if
# the answer to an insert was lost with the connection.
ledger_is_right() {
    local n
    n=$(number_of ledger)
    [ "${n:-0}" -ge "$(events)" ] &&
        [ "$n" -le $(($(events) + $(reconnects))) ]
}
