// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connecting and disconnecting, reconnecting, and the settings of a session.
#ifndef SB_LINK_H
#define SB_LINK_H

#include "db/con.h"

// Connects c->conn, which must be zeroed, and begins its session. After a
// failure it is disconnected. 0 or SB_E*.
int sb__link_open(struct sb_con_priv *c, struct sb_err *err);
// Disconnects c->conn, which other threads can then no longer cancel. The
// result and the statements have ended before.
void sb__link_close(struct sb_con_priv *c);
// Makes one attempt to reconnect. Afterwards the connection is open, or it is
// away and can be tried again. 0 or SB_E* in c->err.
int sb__link_again(struct sb_con_priv *c);

// link.c ------------------------------------------------------------------

// Applies --db-isolation and --db-init-sql to a new connection. 0 or SB_E*.
int sb__session_begin(
    const struct sb_db *db, struct sb_conn *conn, struct sb_err *err);
// The same after a reconnect, and the statements of sb_con_init_sql().
int sb__session_again(struct sb_con_priv *c, struct sb_err *err);
// Frees the statements of sb_con_init_sql().
void sb__session_done(struct sb_con_priv *c);

// reconnect.c ----------------------------------------------------------------

// Reconnects a lost connection, trying until it succeeds. Returns 0 also if
// the run ends before that, with the connection still lost; SB_ELOST after
// --db-reconnect-timeout.
int sb__reconnect_lost(struct sb_con_priv *c);
// Called when a new connection could not be opened and was closed again; *err:
// the reason. If the server may be away, --db-reconnect is on, and the user is
// late, tries as sb__reconnect_lost() and returns 0 when connected. Otherwise
// returns the error, or SB_ECANCELED if the run ended.
int sb__reconnect_new(struct sb_con_priv *c, struct sb_err *err);
// Reconnects at once, because the script asks for it. 0 or SB_E*.
int sb__reconnect_now(struct sb_con_priv *c);
// Starts counting for --db-refresh-events and --db-refresh-time.
void sb__reconnect_often(struct sb_con_priv *c);

#endif
