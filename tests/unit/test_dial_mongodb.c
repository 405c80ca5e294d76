// SPDX-License-Identifier: GPL-2.0-or-later
//
// What would block a worker while the driver connects: names, a Unix socket
// whose queue is full, certificates. What ends such a wait: the connect timeout
// and a cancel.
#include "slow_connect.h"

#include "drivers/mongodb/internal.h"

extern const struct sb_driver sb_driver;

static struct sbmo_opts values;
static union {
    struct sbmo_conn own;
    max_align_t align;
} room;
static struct sb_host own_host; // of a test that replaces a function

static void start(const char *url)
{
    begin_client(&sbmo_opt_table, &values, &room, sizeof(room));
    own_host = host;
    client.env.host = &own_host;
    set("mongo-url", url);
    CHECK_INT(
        sb_driver.generic->env_init(&client.env, &values, &client.err), 0);
}

// timeout: the connect timeout in ms.
static void start_with(const char *url, const char *timeout)
{
    char all[700];

    snprintf(all, sizeof(all), "%s%cconnectTimeoutMS=%s", url,
        strchr(url, '?') ? '&' : '?', timeout);
    start(all);
}

static void start_tcp(const char *name, const char *timeout)
{
    char url[100];

    snprintf(url, sizeof(url), "mongodb://%s:%u/test", name, listen_tcp());
    start_with(url, timeout);
}

static void start_full(const char *timeout)
{
    char here[400], path[420], url[600];
    size_t n = 0;

    CHECK(getcwd(here, sizeof(here)) != NULL);
    snprintf(path, sizeof(path), "%s/full.sock", here);
    listen_full(path);
    n = (size_t)snprintf(url, sizeof(url), "mongodb://");
    for (const char *p = path; *p && n < sizeof(url) - 10; p++)
        n += (size_t)snprintf(
            url + n, sizeof(url) - n, *p == '/' ? "%%2F" : "%c", *p);
    snprintf(url + n, sizeof(url) - n, "/test");
    start_with(url, timeout);
}

static bool says(const char *text)
{
    return strstr(client.err.msg, text) != NULL;
}

static bool cancels(void)
{
    sb_driver.generic->cancel(client.conn);
    return false;
}

// Names ----------------------------------------------------------------------

static void a_name(void)
{
    start_tcp(SLOW_NAME, "10000");
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("closed the connection"));
    CHECK(!pthread_equal(looker, pthread_self()));
    finish();
}

#define SRV_URL "mongodb+srv://db.slow.invalid/test"

int res_nsearch(
    void *state, const char *name, int class, int type, void *out, int size);

// Replaces that of the C library: no server has a record.
__attribute__((visibility("default"))) int res_nsearch(
    void *state, const char *name, int class, int type, void *out, int size)
{
    looker = pthread_self();
    looking = true;
    while (!answers)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    return -1;
}

static void servers_of_a_domain(void)
{
    listen_tcp();
    start(SRV_URL);
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("SRV"));
    // Libraries may look it up with another function.
    CHECK(!looking || !pthread_equal(looker, pthread_self()));
    finish();
}

// Helper threads --------------------------------------------------------------

static unsigned served, asked; // calls before the cancel; all calls

static int canceled_in_queue(void (*run)(void *arg),
    bool (*canceled)(void *arg), void *arg, uint64_t deadline)
{
    CHECK(canceled && !canceled(arg));
    CHECK(deadline == UINT64_MAX); // other users' calls take that long
    if (asked++ < served) {
        run(arg);
        return 0;
    }
    cancels();
    CHECK(canceled(arg));
    return SB_ECANCELED;
}

static void fails_with(int rc, const char *text)
{
    connect_in_fiber(NULL);
    CHECK_INT(client.rc, rc);
    CHECK_STR(client.err.msg, text);
    finish();
}

// Cancels the n-th call of apart(). url: with %u for the port of a server.
static void cancel_at(unsigned n, const char *url)
{
    char whole[100];

    snprintf(whole, sizeof(whole), url, listen_tcp());
    start(whole);
    own_host.apart = canceled_in_queue;
    served = n - 1;
    asked = 0;
    fails_with(SB_ECANCELED, "connecting was canceled");
    CHECK_INT(asked, n);
}

static void a_cancel_while_no_thread_is_free(void)
{
    cancel_at(1, SRV_URL);
    cancel_at(1, "mongodb://" SLOW_NAME ":%u/test");
}

// The hashes of a login take long to compute.
static void a_login(void)
{
    cancel_at(1, "mongodb://me:secret@127.0.0.1:%u/test");
}

static unsigned sleeps;

static void cancel_in_a_sleep(uint64_t until)
{
    sleeps++;
    cancels();
}

// Servers are looked for again and again until a cancel.
static void repeated_tries(void)
{
    start("mongodb://127.0.0.1:1/test?serverSelectionTryOnce=false"
          "&serverSelectionTimeoutMS=600000");
    own_host.sleep = cancel_in_a_sleep;
    sleeps = 0;
    fails_with(SB_ECANCELED, "connecting was canceled");
    CHECK_INT(sleeps, 1);
}

// The certificates of the system take long to read: for the client, and for
// each connection.
static void certificates(void)
{
#ifdef MONGOC_ENABLE_SSL
    cancel_at(1, "mongodb://127.0.0.1:%u/test?tls=true");
    cancel_at(2, "mongodb://127.0.0.1:%u/test?tls=true");
#endif
}

// Deadlines -------------------------------------------------------------------

static void a_full_queue(void)
{
    start_full("100000");
    connect_beside(at_once);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("closed the connection"));
    finish();
}

static void a_full_queue_for_too_long(void)
{
    start_full("50");
    connect_beside(never);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("full.sock: the server's queue of connections was full for "
               "0.05 s"));
    finish();
}

static void a_full_queue_until_a_cancel(void)
{
    start_full("600000");
    connect_beside(cancels);
    CHECK_INT(client.rc, SB_ECANCELED);
    finish();
}

static uint64_t first_wait, last_deadline;

static int no_event(int fd, short events, uint64_t deadline)
{
    if (!first_wait)
        first_wait = sb_clock_monotonic();
    last_deadline = deadline;
    return 0;
}

// A connect in progress waits many times; the last ends with the timeout.
static void a_connect_ends_in_time(void)
{
    struct sockaddr_in a = { 0 };
    socklen_t len = sizeof(a);

    start_tcp("127.0.0.1", "120");
    getsockname(listener, (struct sockaddr *)&a, &len);
    for (fillers = 0; fillers < FILLERS; fillers++) {
        filler[fillers] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(filler[fillers], (struct sockaddr *)&a, sizeof(a));
    }
    own_host.wait = no_event;
    first_wait = 0;
    connect_in_fiber(NULL);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("timed out"));
    CHECK(last_deadline <= first_wait + 120 * MS);
    finish();
}

// A cancel between the connect and the list of sockets ------------------------

static bool cancels_at_getsockname;

// Replaces that of the C library. The driver calls it as soon as it has
// connected.
__attribute__((visibility("default"))) int getsockname(
    int fd, struct sockaddr *a, socklen_t *len)
{
    int (*real)(int, struct sockaddr *, socklen_t *);

    *(void **)&real = dlsym(RTLD_NEXT, "getsockname");
    if (cancels_at_getsockname)
        cancels();
    return real(fd, a, len);
}

static void a_cancel_before_the_socket_is_known(void)
{
    start_tcp("127.0.0.1", "600000");
    cancels_at_getsockname = true;
    connect_beside(never);
    cancels_at_getsockname = false;
    CHECK_INT(client.rc, SB_ECANCELED);
    finish();
}

CHECK_FILE
{
    RUN(a_name);
    RUN(servers_of_a_domain);
    RUN(a_cancel_while_no_thread_is_free);
    RUN(a_login);
    RUN(repeated_tries);
    RUN(certificates);
    RUN(a_full_queue);
    RUN(a_full_queue_for_too_long);
    RUN(a_full_queue_until_a_cancel);
    RUN(a_connect_ends_in_time);
    RUN(a_cancel_before_the_socket_is_known);
    return check_done();
}
