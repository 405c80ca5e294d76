// SPDX-License-Identifier: GPL-2.0-or-later
//
// Erlang's C formula: how long arrivals wait for one of several users. Pure;
// any thread.
#ifndef SB_ERLANG_H
#define SB_ERLANG_H

// Returns the mean time from arrival to start in a queue M/M/c (Poisson
// arrivals, exponential service times), in mean service times.
//
// users: c > 0. load: arrivals per second times the mean service time in
// seconds, >= 0: the mean number of busy users. INFINITY if load >= users. A
// wait below 1e-12 may be returned as 0. Takes some 10 sqrt(load) + users -
// load steps, at most a few times 10,000 for 1,000,000 users.
double sb_erlang_c_wait(unsigned users, double load);

#endif
