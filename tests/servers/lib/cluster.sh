# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several servers under one name, whose env lists them in MEMBERS. Members are
# created in subshells, because a shell handles one server at a time.

# begin_member name kind: selects a new member.
begin_member() {
    local root=${ROOT:-}
    forget
    ROOT=$root
    KIND=$2
    use "$1"
}

finish_member() {
    READY=yes
    save
}

# of_members variable: prints its values in all members, separated by commas.
of_members() {
    local member values=
    for member in $MEMBERS; do
        values=$values,$(with "$member" eval "echo \"\$$1\"")
    done
    echo "${values#,}"
}

# abandon: removes a cluster that could not be started completely, and exits.
abandon() {
    remove
    exit 1
}
