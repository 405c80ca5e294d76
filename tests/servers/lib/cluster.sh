# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several servers under one name, whose env lists them in MEMBERS. Members are
# made in subshells, since a shell knows one server at a time.

# begin_member name kind
begin_member() {
    forget
    KIND=$2
    use "$1"
}

finish_member() {
    READY=yes
    save
}

# of_members variable: its values, with commas.
of_members() {
    local member values=
    for member in $MEMBERS; do
        values=$values,$(with "$member" eval "echo \"\$$1\"")
    done
    echo "${values#,}"
}

# abandon: a cluster that is not complete is none.
abandon() {
    remove
    exit 1
}
