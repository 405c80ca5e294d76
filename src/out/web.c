// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=web=ADDR:PORT: shows the run in a browser while it goes on, and to
// Prometheus.
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/paths.h"
#include "kit/locale.h"
#include "out/json_parts.h"
#include "out/live.h"
#include "out/openmetrics.h"
#include "out/page.h"
#include "out/reporter.h"
#include "out/target.h"
#include "out/answers.h"
#include "out/validity.h"

// The server of the live view (libmicrohttpd). Read-only. One thread of low
// priority answers all requests; it is the reader of the struct sb_live.

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
    const char *page; // NULL: no page could be made
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

// Splits "host:port" or "[host]:port". The port may be missing. False if the
// brackets do not match, if a colon is part of a host without brackets, or if
// the host is too long.
static bool split(const char *text, char *host, size_t size, const char **port)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *from = text + (text[0] == '[');

    if (text[0] == '[' && !end)
        return false;
    if (!end)
        end = text + strlen(text);
    if ((size_t)(end - from) >= size)
        return false;
    memcpy(host, from, (size_t)(end - from));
    host[end - from] = '\0';
    if (text[0] != '[' && strchr(host, ':'))
        return false;
    end += *end == ']';
    if (*end && *end != ':')
        return false;
    *port = *end ? end + 1 : "";
    return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
    char *end;
    long n = strtol(text, &end, 10);

    *port = htons((uint16_t)n);
    return *text >= '0' && *text <= '9' && *end == '\0' && n <= 65535;
}

static bool parse_host(
    struct sb_web_address *a, const char *host, in_port_t port)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&a->addr;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a->addr;

    if (strcasecmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = port;
        a->len = sizeof(*v4);
        a->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = port;
        a->len = sizeof(*v6);
        a->loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return true;
    }
    return false;
}

int sb_web_address(
    struct sb_web_address *a, const char *text, struct sb_err *err)
{
    const char *port;
    in_port_t n;

    memset(a, 0, sizeof(*a));
    snprintf(a->text, sizeof(a->text), "%s", text);
    // Without a host, the address is 127.0.0.1.
    if (parse_port(text + (*text == ':'), &n)) {
        snprintf(a->host, sizeof(a->host), "127.0.0.1");
        parse_host(a, a->host, n);
        return 0;
    }
    if (split(text, a->host, sizeof(a->host), &port) && parse_port(port, &n) &&
        parse_host(a, a->host, n))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "'%s' is not an address and a port, such as 127.0.0.1:8080",
        SB_SHOWN(text));
}

bool sb_web_host_allowed(const struct sb_web_address *a, const char *header)
{
    struct in6_addr any;
    char host[64];
    const char *port;
    in_port_t n;

    // HTTP/1.0 has no such header; no browser sends that.
    if (!header)
        return true;
    if (!split(header, host, sizeof(host), &port) ||
        (*port && !parse_port(port, &n)))
        return false;
    return strcasecmp(host, "localhost") == 0 ||
           strcasecmp(host, a->host) == 0 ||
           inet_pton(AF_INET, host, &any) == 1 ||
           inet_pton(AF_INET6, host, &any) == 1;
}

#ifdef HAVE_MICROHTTPD

// Clients that neither send nor receive for so long are disconnected.
#define IDLE_SECONDS 10u
#define LOWEST       19
// Of documents, read from files in pieces of this size.
#define PIECE 65536u

// A client. Only used by the server's thread.
struct sb__web_con {
    int fd;
    unsigned place; // in the list
    uint64_t used;  // time of the last request, or of the connection
    bool busy;      // a request is in progress
    bool watches;   // has asked for rows
    bool last;      // the request in progress is for the end of the run
};

// Connections -----------------------------------------------------------------

static void set_ending(
    struct sb__web_server *s, struct sb__web_con *c, bool last)
{
    assert(!c->last || atomic_load(&s->ending) > 0);
    if (last && !c->last)
        atomic_fetch_add(&s->ending, 1);
    else if (!last && c->last)
        atomic_fetch_sub(&s->ending, 1);
    c->last = last;
}

static void stop_watching(struct sb__web_server *s, struct sb__web_con *c)
{
    set_ending(s, c, false);
    assert(!c->watches || atomic_load(&s->watching) > 0);
    if (c->watches)
        atomic_fetch_sub(&s->watching, 1);
    c->watches = false;
}

// On Linux, priorities belong to threads. The load must not wait for this one.
static void lower_priority(struct sb__web_server *s)
{
    if (!s->nice)
        setpriority(PRIO_PROCESS, 0, LOWEST);
    s->nice = true;
}

// If there are many clients, disconnects the one that has been idle for the
// longest time. A browser connects again when it has another request.
static void make_room(struct sb__web_server *s)
{
    struct sb__web_con *oldest = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < SB__WEB_CON_MAX; i++) {
        struct sb__web_con *c = s->con[i];

        n += c != NULL;
        if (c && !c->busy && c->fd >= 0 && (!oldest || c->used < oldest->used))
            oldest = c;
    }
    if (n < SB__WEB_IDLE_MAX || !oldest)
        return;
    shutdown(oldest->fd, SHUT_RDWR);
    oldest->fd = -1;
}

static struct sb__web_con *add_connection(
    struct sb__web_server *s, struct MHD_Connection *con)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        con, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sb__web_con *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->fd = info ? info->connect_fd : -1;
    c->used = sb_clock_monotonic();
    while (c->place < SB__WEB_CON_MAX && s->con[c->place])
        c->place++;
    if (c->place < SB__WEB_CON_MAX)
        s->con[c->place] = c;
    return c;
}

static void on_connection(void *arg, struct MHD_Connection *con, void **context,
    enum MHD_ConnectionNotificationCode what)
{
    struct sb__web_server *s = arg;
    struct sb__web_con *c = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        lower_priority(s);
        make_room(s);
        *context = add_connection(s, con);
    } else if (c) {
        stop_watching(s, c);
        assert(c->place >= SB__WEB_CON_MAX || s->con[c->place] == c);
        if (c->place < SB__WEB_CON_MAX)
            s->con[c->place] = NULL;
        free(c);
        *context = NULL;
    }
}

static struct sb__web_con *context_of(struct MHD_Connection *con)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        con, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static void on_completed(void *arg, struct MHD_Connection *con, void **request,
    enum MHD_RequestTerminationCode how)
{
    struct sb__web_con *c = context_of(con);

    (void)request;
    if (!c)
        return;
    c->busy = false;
    if (c->last && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        stop_watching(arg, c);
    set_ending(arg, c, false);
}

// Notes that the client displays the run. last: the answer contains the end of
// the run.
static void watch(
    struct sb__web_server *s, struct MHD_Connection *con, bool last)
{
    struct sb__web_con *c = context_of(con);

    if (!c)
        return;
    if (!c->watches)
        atomic_fetch_add(&s->watching, 1);
    c->watches = true;
    set_ending(s, c, last);
}

// Answers ---------------------------------------------------------------------

static enum MHD_Result answer(struct MHD_Connection *con, unsigned status,
    const char *type, struct MHD_Response *response)
{
    enum MHD_Result ok;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    // Beside the policy of the page itself.
    MHD_add_response_header(
        response, "Content-Security-Policy", "frame-ancestors 'none'");
    MHD_add_response_header(
        response, "Cross-Origin-Resource-Policy", "same-origin");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    ok = MHD_queue_response(con, status, response);
    MHD_destroy_response(response);
    return ok;
}

static enum MHD_Result answer_text(
    struct MHD_Connection *con, unsigned status, const char *text)
{
    return answer(con, status, "text/plain; charset=utf-8",
        MHD_create_response_from_buffer(
            strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result answer_page(
    const struct sb__web_server *s, struct MHD_Connection *con)
{
    if (!s->page)
        return answer_text(con, MHD_HTTP_SERVICE_UNAVAILABLE, s->no_page);
    return answer(con, MHD_HTTP_OK, "text/html; charset=utf-8",
        MHD_create_response_from_buffer(
            s->page_len, (void *)s->page, MHD_RESPMEM_PERSISTENT));
}

static ssize_t read_text(void *arg, uint64_t pos, char *to, size_t max)
{
    ssize_t n = sb_live_text_read(arg, pos, to, max);

    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_text(void *arg)
{
    sb_live_text_done(arg);
    free(arg);
}

// Answers with a document, which it frees. rc: of the function that made it.
static enum MHD_Result answer_document(struct MHD_Connection *con,
    struct sb_live_text *t, int rc, const struct sb_err *err)
{
    struct MHD_Response *response = NULL;

    if (rc == 0)
        response = MHD_create_response_from_callback(
            t->size, PIECE, read_text, t, free_text);
    if (response)
        return answer(
            con, MHD_HTTP_OK, "application/json; charset=utf-8", response);
    free_text(t);
    return answer_text(
        con, MHD_HTTP_INTERNAL_SERVER_ERROR, rc ? err->msg : "out of memory");
}

// Returns the state of the run. Before the first figures, sends the answer "no
// figures yet" and returns NULL.
static const struct sb_live_state *known(
    struct sb__web_server *s, struct MHD_Connection *con, enum MHD_Result *rc)
{
    const struct sb_live_state *state = sb_live_read(s->live);

    if (!state || !state->facts) {
        *rc = answer_text(
            con, MHD_HTTP_SERVICE_UNAVAILABLE, "no figures yet\n");
        return NULL;
    }
    return state;
}

static enum MHD_Result answer_result(
    struct sb__web_server *s, struct MHD_Connection *con)
{
    struct sb_err err = { 0 };
    enum MHD_Result answered = MHD_NO;
    const struct sb_live_state *state = known(s, con, &answered);
    struct sb_live_text *t = state ? calloc(1, sizeof(*t)) : NULL;

    if (!t)
        return answered;
    watch(s, con, state->end != NULL);
    int rc = sb_live_result(t, s->live, state, s->program, &err);
    return answer_document(con, t, rc, &err);
}

// Reads ?from=N. False if it is not a number.
static bool read_from(struct MHD_Connection *con, uint64_t *from)
{
    const char *text = MHD_lookup_connection_value(
        con, MHD_GET_ARGUMENT_KIND, "from");
    char *end;

    *from = 0;
    if (!text)
        return true;
    errno = 0;
    *from = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static enum MHD_Result answer_intervals(
    struct sb__web_server *s, struct MHD_Connection *con)
{
    struct sb_err err = { 0 };
    enum MHD_Result answered = MHD_NO;
    uint64_t from;

    if (!read_from(con, &from))
        return answer_text(
            con, MHD_HTTP_BAD_REQUEST, "from= is not the number of a row\n");
    const struct sb_live_state *state = known(s, con, &answered);
    struct sb_live_text *t = state ? calloc(1, sizeof(*t)) : NULL;
    if (!t)
        return answered;
    // The page asks for the whole document when it sees the end.
    watch(s, con, false);
    int rc = sb_live_intervals(t, s->live, state, from, &err);
    return answer_document(con, t, rc, &err);
}

static enum sb_openmetrics_format format_of(struct MHD_Connection *con)
{
    const char *accept = MHD_lookup_connection_value(
        con, MHD_HEADER_KIND, "Accept");

    return accept && strstr(accept, "text/plain") &&
                   !strstr(accept, "openmetrics-text")
               ? SB_OPENMETRICS_TEXT
               : SB_OPENMETRICS;
}

static enum sb_openmetrics_phase phase_of(
    const struct sb__web_server *s, const struct sb_live_state *state)
{
    if (state->end || state->whole)
        return SB_OPENMETRICS_END;
    if (!state->has_report)
        return s->searches ? SB_OPENMETRICS_SEARCH : SB_OPENMETRICS_START;
    return state->report.warmup ? SB_OPENMETRICS_WARMUP
                                : SB_OPENMETRICS_MEASURED;
}

static enum MHD_Result answer_metrics(
    struct sb__web_server *s, struct MHD_Connection *con)
{
    enum sb_openmetrics_format format = format_of(con);
    enum MHD_Result answered = MHD_NO;
    const struct sb_live_state *state = known(s, con, &answered);
    struct sb_buf text;

    if (!state)
        return answered;
    const struct sb_openmetrics_run run = { s->test, s->version,
        phase_of(s, state) };
    sb_buf_init(&text, 0);
    sb_openmetrics_text(&text, format, &run, &state->report, &state->series);
    if (text.failed) {
        sb_buf_done(&text);
        return answer_text(
            con, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    return answer(con, MHD_HTTP_OK,
        format == SB_OPENMETRICS ? SB_OPENMETRICS_TYPE
                                 : SB_OPENMETRICS_TEXT_TYPE,
        MHD_create_response_from_buffer(
            text.len, text.data, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result route(
    struct sb__web_server *s, struct MHD_Connection *con, const char *url)
{
    if (strcmp(url, "/") == 0)
        return answer_page(s, con);
    if (strcmp(url, "/result.json") == 0)
        return answer_result(s, con);
    if (strcmp(url, "/intervals.json") == 0)
        return answer_intervals(s, con);
    if (strcmp(url, "/metrics") == 0)
        return answer_metrics(s, con);
    return answer_text(con, MHD_HTTP_NOT_FOUND,
        "not found; there are /, /metrics and /result.json\n");
}

// Browsers always send a Host header; HTTP/1.0 has none.
static bool is_allowed(const struct sb__web_server *s,
    struct MHD_Connection *con, const char *version)
{
    const char *host = MHD_lookup_connection_value(
        con, MHD_HEADER_KIND, "Host");

    if (!host && strcmp(version, "HTTP/1.0") != 0)
        return false;
    return sb_web_host_allowed(&s->address, host);
}

// Called at least twice for a request: when its header is there, and at its
// end. An answer to the first call would close the connection.
static enum MHD_Result handle_request(void *arg, struct MHD_Connection *con,
    const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request)
{
    static char begun;
    struct sb__web_server *s = arg;
    struct sb__web_con *c = context_of(con);

    (void)upload;
    sb_locale_keep(); // the thread is the library's
    if (c) {
        c->busy = true;
        c->used = sb_clock_monotonic();
    }
    if (!is_allowed(s, con, version))
        return answer_text(con, MHD_HTTP_FORBIDDEN,
            "the Host header names another site; use the IP address\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(con, MHD_HTTP_METHOD_NOT_ALLOWED,
            "only GET and HEAD are allowed\n");
    // A request for a page has no content: close the connection.
    if (*upload_size)
        return MHD_NO;
    if (!*request) {
        *request = &begun;
        return MHD_YES;
    }
    return route(s, con, url);
}

// Start and stop --------------------------------------------------------------

static int listen_error(
    const struct sb_web_address *a, int fd, struct sb_err *err)
{
    int native = errno;

    if (fd >= 0)
        close(fd);
    return sb_err_set(
        err, SB_ESYS, "cannot listen on %s: %s", a->text, strerror(native));
}

static int listen_on(
    const struct sb_web_address *a, unsigned *port, struct sb_err *err)
{
    struct sockaddr_storage bound = { 0 };
    socklen_t len = sizeof(bound);
    int on = 1;
    int fd = socket(a->addr.ss_family, SOCK_STREAM, 0);

    if (fd < 0)
        return listen_error(a, fd, err);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (a->addr.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, (const struct sockaddr *)&a->addr, a->len) ||
        listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)&bound, &len))
        return listen_error(a, fd, err);
    *port = ntohs(bound.ss_family == AF_INET6
                      ? ((struct sockaddr_in6 *)&bound)->sin6_port
                      : ((struct sockaddr_in *)&bound)->sin_port);
    return fd;
}

// Starts to listen and to answer. *port: the one in use. SB_ESYS names address
// and reason. Call web_stop() in either case.
static int web_start(
    struct sb__web_server *s, unsigned *port, struct sb_err *err)
{
    sigset_t all, old;
    int fd = listen_on(&s->address, port, err);

    if (fd < 0)
        return err->code;
    // Signals are left to the thread that waits for them.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    s->daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD |
            (s->address.addr.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0),
        0, NULL, NULL, handle_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, SB__WEB_CON_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (s->daemon)
        return 0;
    close(fd);
    return sb_err_set(err, SB_ESYS,
        "cannot start the server: unknown error in libmicrohttpd");
}

// Closes all connections, finished or not.
static void web_stop(struct sb__web_server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
}

#endif

#ifdef HAVE_MICROHTTPD

// How long the program stays at the end of a run for pages that do not have the
// end yet. They ask once per second, on a busy machine some seconds later. A
// long result takes longer to send; the server disconnects a client that has
// received nothing for 10 seconds, so that only one that still reads gets the
// whole time.
#define LINGER_NS  UINT64_C(5000000000)
#define SENDING_NS UINT64_C(60000000000)

struct web {
    struct sb_live live;
    struct sb__web_server server;
    char *page;
    size_t page_len;
    struct sb_err no_page;
    bool has_facts;      // the facts of the start were published
    unsigned ndatabases; // in the facts
    double seconds;
};

// Without the charts library there is no page, but the figures are served.
static void make_page(struct web *w, const char *title)
{
    struct sb_paths paths;
    struct sb_page_parts parts = {
        .page = paths.page, .charts = paths.charts, .title = title, .live = true
    };
    struct sb_err *err = &w->no_page;
    FILE *out;

    if (sb_paths_find(&paths, err))
        return;
    out = open_memstream(&w->page, &w->page_len);
    if (!out) {
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return;
    }
    sb_page_write(out, &parts, err);
    if (fclose(out) && !err->code)
        sb_err_set(err, SB_ENOMEM, "out of memory");
    if (err->code)
        sb_log(SB_LOG_WARNING,
            "--report=web: %.400s; only /metrics and /result.json are "
            "available",
            err->msg);
}

static void log_address(const struct sb_web_address *a, unsigned port)
{
    bool v6 = strchr(a->host, ':') != NULL;

    sb_log(SB_LOG_NOTICE, "Live view: http://%s%s%s:%u/", v6 ? "[" : "",
        a->host, v6 ? "]" : "", port);
    if (!a->loopback)
        sb_log(SB_LOG_WARNING,
            "--report=web: everyone who can reach %s can read the figures and "
            "options of this run",
            a->host);
}

static int publish_facts(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = r->data;

    w->ndatabases = r->facts->ndatabases;
    return sb_live_facts(&w->live, sb_json_facts(r->facts), err);
}

static int serve(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = r->data;
    struct sb__web_server *s = &w->server;
    unsigned port = 0;

    make_page(w, r->facts->test);
    s->live = &w->live;
    s->page = w->no_page.code ? NULL : w->page;
    s->page_len = w->page_len;
    s->no_page = w->no_page.msg;
    s->test = r->facts->test;
    s->version = r->facts->version;
    s->searches = r->facts->finds_rate;
    s->program = sb_json_program(r->facts);
    if (!s->program)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    int rc = publish_facts(r, err);
    if (rc == 0)
        rc = web_start(s, &port, err);
    if (rc == 0)
        log_address(&s->address, port);
    return rc;
}

static int web_open(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = calloc(1, sizeof(*w));
    char dir[4096];
    int rc;

    r->data = w;
    if (!w)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    sb_target_folder("-", dir, sizeof(dir));
    rc = sb_live_init(&w->live, dir, err);
    if (rc == 0)
        rc = sb_web_address(&w->server.address, r->target, err);
    return rc ? rc : serve(r, err);
}

static int web_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct web *w = r->data;
    int rc = 0, failed;

    if (!w->has_facts || w->ndatabases != r->facts->ndatabases)
        rc = publish_facts(r, err);
    w->has_facts = true;
    failed = sb_live_interval(&w->live, report, row, err);
    return failed ? failed : rc;
}

static int web_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct web *w = r->data;

    w->seconds = whole->total_s;
    return sb_live_final(&w->live, whole, err);
}

// Waits until the pages that show the run have its end.
static void linger(struct web *w)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    uint64_t begun = sb_clock_monotonic(), limit = LINGER_NS;

    while (atomic_load(&w->server.watching) > 0 &&
           sb_clock_monotonic() - begun < limit) {
        limit = atomic_load(&w->server.ending) > 0 ? SENDING_NS : LINGER_NS;
        nanosleep(&pause, NULL);
    }
}

static int web_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct web *w = r->data;
    const struct sb_asserts *limits = r->facts->limits;
    const struct sb_validity *validity = r->facts->validity;
    json_t *answers = json_object();
    int rc = publish_facts(r, err);

    if (r->facts->answers)
        sb_answers_set(answers, r->facts->answers, r->facts->headline);
    int failed = sb_live_end(&w->live, limits ? sb_json_limits(limits) : NULL,
        validity ? sb_validity_json(validity) : NULL, answers,
        sb_json_outcome(o, w->seconds), err);

    linger(w);
    return failed ? failed : rc;
}

static void web_done(struct sb_reporter *r)
{
    struct web *w = r->data;

    if (!w)
        return;
    web_stop(&w->server);
    json_decref(w->server.program);
    sb_live_done(&w->live);
    free(w->page);
    free(w);
}

const struct sb_reporter_kind sb__web_kind = {
    .name = "web",
    .target = "ADDR:PORT",
    .form = SB_REPORT_VIEW,
    .open = web_open,
    .interval = web_interval,
    .final = web_final,
    .finish = web_finish,
    .done = web_done,
};

#else

const struct sb_reporter_kind sb__web_kind = {
    .name = "web",
    .target = "ADDR:PORT",
    .missing = "this sysbench was built without libmicrohttpd (Debian: "
               "libmicrohttpd-dev), which serves the page",
};

#endif
