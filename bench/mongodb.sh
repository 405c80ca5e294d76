# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of documents, compared with bare loops on libmongoc, for bench/run.
# The server is bench/mongo_canned.c, so that the client is the bottleneck;
# loads are also measured on a real server.

mongodb_size=100000 # number of ids that are read

mongodb_down() {
    # The server ends when its standard input is closed.
    [ -z "${canned_in:-}" ] || exec {canned_in}>&-
}

# Prints a script that finds a document by its _id. $1: compiled, or tables for
# commands made of Lua tables.
mongodb_script() {
    case $1 in
    compiled)
        cat <<LUA
local arg = sysbench.mongodb.arg

function thread_init()
   local coll = sysbench.mongodb.connect():collection("sbtest1")
   by_id = coll:compile("find", {_id = arg(1)},
                        {projection = {c = 1, _id = 0}})
end

function event()
   assert(by_id:execute(sysbench.rand.uniform(1, $mongodb_size)):count() == 1)
end
LUA
        ;;
    tables)
        cat <<LUA
function thread_init()
   coll = sysbench.mongodb.connect():collection("sbtest1")
end

function event()
   local id = sysbench.rand.uniform(1, $mongodb_size)
   for doc in coll:find({_id = id}, {projection = {c = 1, _id = 0}}) do
      assert(doc.c)
   end
end
LUA
        ;;
    esac
}

# Starts the canned server once; sets CANNED, its URL.
mongodb_up() {
    local port what
    [ -z "${CANNED:-}" ] || return 0
    if ! pkg-config --exists libmongoc-1.0; then
        echo "(mongodb: libmongoc is not installed; skipped)"
        return 1
    fi
    # shellcheck disable=SC2046
    floor mongo_canned $(pkg-config --cflags --libs libbson-1.0) -lpthread
    # shellcheck disable=SC2046
    floor floor_mongodb $(pkg-config --cflags --libs libmongoc-1.0) -lpthread
    coproc CANNED_SERVER { exec ./mongo_canned; }
    read -r port <&"${CANNED_SERVER[0]}" || exit 1
    exec {canned_in}>&"${CANNED_SERVER[1]}"
    eval "exec ${CANNED_SERVER[1]}>&-"
    CANNED=mongodb://127.0.0.1:$port
    for what in compiled tables; do
        mongodb_script $what >find_$what.lua
        wall_of mongodb_find $what 1 100 >/dev/null # fails if it does not run
    done
    wall_of bare_find 1 100 >/dev/null
}

mongodb_find() { # how threads events
    "$SB" "./find_$1.lua" --mongo-url="$CANNED" --mongo-database-name=sbtest \
        --threads="$2" --events="$3" --time=0 run
}

bare_find() { ./floor_mongodb "$CANNED" find "$1" "$2" $mongodb_size; }

bench_mongodb_cpu() {
    local threads what target few=20000 many=$((20000 + SECS * 16000))
    for threads in 1 8; do
        : >bare
        for what in compiled tables; do : >$what && : >r_$what; done
        for _ in $(seq "$REPS"); do
            b=$(steady user_of $few $many bare_find $threads EVENTS)
            echo "$b" >>bare
            for what in compiled tables; do
                a=$(steady user_of $few $many mongodb_find $what $threads EVENTS)
                echo "$a" >>$what
                ratio "$a" "$b" >>r_$what
            done
        done
        for what in compiled tables; do
            target="at most 1.15"
            [ $what = compiled ] || target="at most 1.6"
            row "mongodb: user CPU per find, us, $what, $threads threads" \
                "$(median <$what)" "$(median <bare)" "$(median <r_$what)" \
                "$target"
        done
    done
}

# The collections that both loads fill: one, without a secondary index.
mongodb_oltp() { # command options of the server, ...
    local command=$1
    shift
    "$SB" "$top/tests/lua/mongodb/oltp.lua" "$@" --tables=1 "$command"
}

# Measures this program and the bare loop in the order given; sets a and b,
# their times in seconds.
mongodb_load_one() { # documents threads url order, options of the server
    local n=$1 threads=$2 url=$3 order=$4 side
    shift 4
    for side in $order; do
        case $side in
        new) a=$(wall_of mongodb_oltp prepare "$@" --create-secondary=off \
            --table-size="$n" --threads="$threads") ;;
        bare) b=$(wall_of ./floor_mongodb "$url" bulk "$threads" "$n") ;;
        esac
        mongodb_oltp cleanup "$@" >/dev/null 2>&1
    done
}

mongodb_load() { # server documents threads, options of the server
    local server=$1 n=$2 threads=$3 url a b i
    shift 3
    for url; do
        case $url in --mongo-url=*) url=${url#*=} && break ;; esac
    done
    : >new && : >bare && : >r
    for i in $(seq "$REPS"); do
        if [ $((i % 2)) = 0 ]; then
            mongodb_load_one "$n" "$threads" "$url" "new bare" "$@"
        else
            mongodb_load_one "$n" "$threads" "$url" "bare new" "$@"
        fi
        ratio "$n" "$a" >>new
        ratio "$n" "$b" >>bare
        ratio "$b" "$a" >>r
    done
    row "$server: prepare, documents/s, $threads threads" "$(median <new)" \
        "$(median <bare)" "$(median <r)" "at least 1"
}

bench_mongodb_prepare() {
    local threads options n=1000000 real=100000
    [ "$REPS" != 1 ] || n=400000 real=20000
    for threads in 1 2; do
        mongodb_load mongodb $n $threads --mongo-url="$CANNED" \
            --mongo-database-name=sbtest
    done
    if ! options=$("$servers_dir/up" mongodb --name=bench-mongodb 2>up.err); then
        echo "(mongodb: no real server: $(head -1 up.err))"
        return
    fi
    case " $started " in
    *" bench-mongodb "*) ;;
    *) started="$started bench-mongodb" ;;
    esac
    # shellcheck source=/dev/null
    . /dev/stdin <<<"$("$servers_dir/env" bench-mongodb)"
    for threads in 1 2; do
        # shellcheck disable=SC2086
        mongodb_load "$KIND" $real $threads $options
    done
}

# Prints the memory per connection in KB, from the difference between 200 and
# 20.
mongodb_each() { # command...
    local a b
    a=$("${@/USERS/20}")
    b=$("${@/USERS/200}")
    awk -v a="$a" -v b="$b" 'BEGIN { printf "%.1f\n", (b - a) / 180 }'
}

bare_resident() {
    ./floor_mongodb "$CANNED" idle "$1" | sed 's/.*rss_kb=\([0-9]*\).*/\1/'
}

bench_mongodb_users() {
    local what target="minus bare: at most 200"
    for what in compiled tables; do
        : >new && : >bare && : >r
        for _ in $(seq "$REPS"); do
            a=$(mongodb_each rss_of "$SB" ./find_$what.lua --mongo-url="$CANNED" \
                --mongo-database-name=sbtest --threads=USERS --time=5 run)
            b=$(mongodb_each bare_resident USERS)
            echo "$a" >>new
            echo "$b" >>bare
            awk -v a="$a" -v b="$b" 'BEGIN { printf "%.1f\n", a - b }' >>r
        done
        row "mongodb: KB per connection, $what" "$(median <new)" \
            "$(median <bare)" "+$(median <r)" "$target"
    done
}
