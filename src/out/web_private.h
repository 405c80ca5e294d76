// SPDX-License-Identifier: GPL-2.0-or-later
//
// The server of the live view (libmicrohttpd). Read-only. One thread of low
// priority answers all requests; it is the reader of the struct sb_live.
#ifndef SB_WEB_PRIVATE_H
#define SB_WEB_PRIVATE_H

#include <jansson.h>
#include <stdatomic.h>

#include "out/live.h"
#include "out/web_address.h"

struct sb__web_con;

// Clients that exceed this number replace those that have been idle for the
// longest time.
#define SB__WEB_IDLE_MAX 48u
// More clients wait until one has its answer: each needs a file descriptor,
// which the load may need, too.
#define SB__WEB_CON_MAX 64u

struct sb__web_server {
    // Set by the caller before the start; must outlive the server.
    struct sb_web_address address;
    struct sb_live *live;
    const char *page; // NULL: there is none
    size_t page_len;
    const char *no_page; // why
    json_t *program;     // of result documents
    const char *test, *version;
    bool searches; // the run finds its rate before it is measured
    // The server's own.
    struct MHD_Daemon *daemon;
    struct sb__web_con *con[SB__WEB_CON_MAX];
    bool nice; // the priority of the thread is set
    // Clients that have asked for rows, are still connected, and do not have
    // the end of the run. Any thread.
    _Atomic unsigned watching;
    // Those of them to which the end is being sent.
    _Atomic unsigned ending;
};

#endif
