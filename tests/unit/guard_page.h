// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes directly before a page that must not be read: a read beyond their end
// crashes the test.
#ifndef GUARD_PAGE_H
#define GUARD_PAGE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_MOST 4096u

// Returns a copy of len <= GUARD_MOST bytes, valid until the next call; NULL if
// there is no memory.
static uint8_t *guarded(const void *bytes, size_t len)
{
    static uint8_t *end;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!end) {
        void *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED || mprotect((char *)p + page, page, PROT_NONE))
            return NULL;
        end = (uint8_t *)p + page;
    }
    if (len > 0)
        memcpy(end - len, bytes, len);
    return end - len;
}

#endif
