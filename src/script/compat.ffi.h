// SPDX-License-Identifier: GPL-2.0-or-later
//
// C functions of sysbench 1.x that scripts call or declare by ffi. They have no
// context parameter and act on the script that runs in the calling thread; if
// none does, they do nothing and return 0. New code uses the other .ffi.h
// files.
#ifndef SB_COMPAT_FFI_H
#define SB_COMPAT_FFI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/export.h"

typedef enum {
    SB_CNT_OTHER,
    SB_CNT_READ,
    SB_CNT_WRITE,
    SB_CNT_EVENT,
    SB_CNT_TRX = 3,
    SB_CNT_ERROR,
    SB_CNT_RECONNECT,
    SB_CNT_BYTES_READ,
    SB_CNT_BYTES_WRITTEN
} sb_counter_type;

// thread_id is ignored: the counters are those of the calling thread's user.
SB_FFI uint64_t sb_counter_val(int thread_id, sb_counter_type type);
SB_FFI void sb_counter_add(int thread_id, sb_counter_type type, uint64_t val);
SB_FFI void sb_counter_inc(int thread_id, sb_counter_type type);

// For an event loop in a script: while more_events: start, ..., stop.
SB_FFI bool sb_more_events(int thread_id);
SB_FFI void sb_event_start(int thread_id);
SB_FFI void sb_event_stop(int thread_id);

SB_FFI uint32_t sb_rand_default(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_uniform(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_gaussian(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_special(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_pareto(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_zipfian(uint32_t a, uint32_t b);
SB_FFI uint32_t sb_rand_unique(void);
SB_FFI uint64_t sb_rand_uniform_uint64(void);
SB_FFI double sb_rand_uniform_double(void);
// buf: as long as fmt without its NUL; no NUL is written.
SB_FFI void sb_rand_str(const char *fmt, char *buf);
// buf: max_len bytes; returns the number of bytes written.
SB_FFI uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len);

#endif
