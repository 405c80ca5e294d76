// SPDX-License-Identifier: GPL-2.0-or-later
//
// Waiting for libpq on encrypted connections. The functions of libpq that read
// are replaced by a model: a library that decrypts a record as a whole, and a
// buffer with room for a part of one.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"
#include "drivers/pgsql/internal.h"
#include "kit/clock.h"

#define RECORD 16384
#define ROOM   8192
#define MS     UINT64_C(1000000)
#define NONE   UINT64_MAX

static struct model {
    int socket;
    uint64_t records; // in the socket
    int size;         // of the first of them; others have RECORD bytes
    int kept;         // bytes that the library has decrypted
    int got, wanted;  // bytes that libpq has read, and needs for the answer
    int late;         // records that arrive when the driver waits
    int in_read;      // records that arrive when libpq reads once more
    int unsent;       // how often libpq cannot send everything
    int reads, expired;
    uint64_t limit; // of the last wait, in ns; NONE: no limit
    PGTransactionStatusType state;
} m;

static struct pgsql_conn conn;

static void arrive(uint64_t n)
{
    m.records += n;
    CHECK_INT(write(m.socket, &n, sizeof(n)), sizeof(n));
}

static void take_record(void)
{
    uint64_t n;

    if (m.records == 0)
        return;
    CHECK_INT(read(m.socket, &n, sizeof(n)), sizeof(n));
    m.records = 0;
    m.kept = m.size;
    m.size = RECORD;
    if (n > 1)
        arrive(n - 1);
}

// libpq ----------------------------------------------------------------------

int PQconsumeInput(PGconn *db)
{
    int n;

    m.reads++;
    for (; m.in_read > 0 && m.records == 0 && m.reads > 1; m.in_read--)
        arrive(1);
    if (m.kept == 0)
        take_record();
    n = m.kept < ROOM ? m.kept : ROOM;
    m.kept -= n;
    m.got += n;
    return 1;
}

int PQflush(PGconn *db)
{
    if (m.unsent == 0)
        return 0;
    m.unsent--;
    PQconsumeInput(db); // as libpq does
    return 1;
}

int PQisBusy(PGconn *db)
{
    return m.got < m.wanted;
}

int PQsocket(const PGconn *db)
{
    return m.socket;
}

PGTransactionStatusType PQtransactionStatus(const PGconn *db)
{
    return m.state;
}

PGresult *PQgetResult(PGconn *db)
{
    return NULL;
}

// The host -------------------------------------------------------------------

// Ends a wait that nothing would end by an error.
static int wait_here(int fd, short events, uint64_t deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    uint64_t now = sb_clock_monotonic();

    m.limit = deadline == UINT64_MAX ? NONE
              : deadline > now       ? deadline - now
                                     : 0;
    if (m.records == 0 && m.late > 0) {
        m.late--;
        arrive(1);
    }
    if (poll(&p, 1, 0) > 0)
        return p.revents;
    if (deadline == UINT64_MAX || ++m.expired > 30)
        return -1;
    return 0;
}

static const struct sb_host host = { .abi = SB_DRIVER_ABI, .wait = wait_here };

static void begin(bool encrypted, int records_wanted)
{
    m = (struct model){ .socket = eventfd(0, EFD_NONBLOCK),
        .size = RECORD,
        .wanted = records_wanted * RECORD };
    conn = (struct pgsql_conn){ .host = &host, .encrypted = encrypted };
    pgsql_call_begin(&conn);
}

// Waits for the answer, which is then complete.
static void receive(void)
{
    pgsql_next(&conn);
    CHECK_INT(m.got, m.wanted);
}

static void end(void)
{
    close(m.socket);
}

// Tests ----------------------------------------------------------------------

static void rests_of_records(void)
{
    for (int n = 1; n <= 3; n++) {
        begin(true, n);
        arrive((uint64_t)n);
        receive();
        CHECK_INT(m.expired, 0);
        end();
    }
}

// libpq reads all of the first record, so nothing is kept of it.
static void a_short_record_first(void)
{
    begin(true, 2);
    m.size = 1000;
    m.wanted = 1000 + RECORD;
    arrive(2);
    receive();
    CHECK_INT(m.expired, 0);
    end();
}

static void records_one_by_one(void)
{
    begin(true, 3);
    m.late = 3;
    receive();
    CHECK_INT(m.expired, 0);
    end();
}

// Nothing shows the rest of a record that arrived between the look at the
// socket and the read: a short limit of the wait ends.
static void a_record_at_the_wrong_time(void)
{
    begin(true, 2);
    m.size = 1000;
    m.wanted = 1000 + RECORD;
    arrive(1);
    m.in_read = 1;
    receive();
    CHECK_INT(m.expired, 1);
    CHECK(m.limit <= MS);
    end();
}

static void an_answer_behind_an_unfinished_request(void)
{
    begin(true, 1);
    arrive(1);
    m.unsent = 1;
    receive();
    CHECK_INT(m.expired, 0);
    end();
}

// The first wait is for the server, without a read before it; a pipeline may
// have its next answer already.
static void the_next_call(void)
{
    begin(true, 1);
    arrive(1);
    m.wanted = ROOM;
    receive();
    CHECK_INT(m.reads, 1);
    m.state = PQTRANS_ACTIVE;
    pgsql_call_begin(&conn);
    m.wanted = RECORD;
    receive();
    CHECK_INT(m.reads, 2);
    CHECK_INT(m.expired, 0);
    m.state = PQTRANS_IDLE;
    pgsql_call_begin(&conn);
    m.wanted += ROOM;
    m.late = 1;
    receive();
    CHECK_INT(m.reads, 3);
    end();
}

// The next answer of a pipeline arrives in the read that completes one.
static void the_next_answer(void)
{
    begin(true, 1);
    arrive(1);
    m.in_read = 1;
    m.wanted = RECORD;
    receive();
    m.state = PQTRANS_ACTIVE;
    while (m.reads < 3) { // libpq reads while it sends
        m.in_read = 1;
        PQconsumeInput(NULL);
    }
    pgsql_call_begin(&conn);
    m.wanted = 2 * RECORD;
    receive();
    CHECK_INT(m.expired, 0);
    end();
}

// The more time nothing arrives, the more rarely it looks.
static void limits_grow(void)
{
    begin(true, 2);
    arrive(1);
    CHECK(pgsql_receive_more(&conn));
    CHECK(m.limit > MS);
    CHECK(pgsql_receive_more(&conn));
    for (int i = 0; i < 12; i++) {
        CHECK(pgsql_receive_more(&conn));
        CHECK_INT(m.expired, i + 1);
        CHECK(m.limit <= (MS << i) && m.limit <= 1000 * MS);
    }
    CHECK(m.limit > 100 * MS);
    end();
}

static void without_encryption(void)
{
    begin(false, 1);
    m.late = 1;
    m.wanted = ROOM;
    receive();
    CHECK_INT(m.reads, 1);
    CHECK(m.limit == NONE);
    end();
}

int main(void)
{
    RUN(rests_of_records);
    RUN(a_short_record_first);
    RUN(records_one_by_one);
    RUN(a_record_at_the_wrong_time);
    RUN(an_answer_behind_an_unfinished_request);
    RUN(the_next_call);
    RUN(the_next_answer);
    RUN(limits_grow);
    RUN(without_encryption);
    return check_done();
}
