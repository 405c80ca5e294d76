// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "kit/hash.h"

#define MESSAGE_MAX  4096
#define PROGRESS_MAX 512
#define KNOWN_MAX    256

// One per process, because stderr is: two loggers could not collapse repeated
// messages or erase each other's progress line. `lock` protects everything
// except the level.
static struct {
    _Atomic int level;
    pthread_mutex_t lock;
    char last[MESSAGE_MAX];    // the last message with its prefix
    unsigned repeats;          // how often it was repeated
    bool progress;             // the terminal shows a progress line
    int shared;                // a file, see sb_log_share(); -1: none
    uint64_t known[KNOWN_MAX]; // hashes of what earlier processes have shown
    unsigned nknown;
    uint64_t own[KNOWN_MAX]; // of this process, so that each is noted once
    unsigned nown;
} logger = {
    .level = SB_LOG_NOTICE, .lock = PTHREAD_MUTEX_INITIALIZER, .shared = -1
};

void sb_log_set_level(int level)
{
    atomic_store_explicit(&logger.level, level, memory_order_relaxed);
}

int sb_log_level(void)
{
    return atomic_load_explicit(&logger.level, memory_order_relaxed);
}

static const char *prefix(int level)
{
    switch (level) {
    case SB_LOG_FATAL:
        return "FATAL: ";
    case SB_LOG_ALERT:
        return "ALERT: ";
    case SB_LOG_WARNING:
        return "WARNING: ";
    case SB_LOG_DEBUG:
        return "DEBUG: ";
    default:
        return "";
    }
}

static void wipe_progress(void)
{
    if (logger.progress)
        fputs("\r\033[K", stderr);
    logger.progress = false;
}

static void flush_repeats(void)
{
    if (!logger.repeats)
        return;
    wipe_progress();
    fprintf(stderr, "(last message repeated %u times)\n", logger.repeats);
    logger.repeats = 0;
}

// The length of the number with which the word begins. "db1" and
// "10.0.0.1:5432" are names.
static size_t number_length(const char *word)
{
    size_t n = strspn(word, "0123456789");

    if (n > 0 && word[n] == '.')
        n += 1 + strspn(word + n + 1, "0123456789");
    return word[n] && strchr(".:_-/", word[n]) ? 0 : n;
}

// Messages that differ in numbers are the same.
static uint64_t hash_of(const char *text)
{
    uint64_t hash = SB_HASH_START;

    while (*text) {
        text += number_length(text);
        while (*text && *text != ' ')
            hash = sb_hash_byte(hash, (unsigned char)*text++);
        text += *text == ' ';
    }
    return hash;
}

// Whether an earlier process has shown the message; otherwise, later ones will
// know it. The file has the number of hidden messages, then the hashes.
static bool is_known(uint64_t hash)
{
    off_t end = lseek(logger.shared, 0, SEEK_END);
    uint64_t hidden = 0;
    bool known = false;

    for (unsigned i = 0; i < logger.nknown && !known; i++)
        known = logger.known[i] == hash;
    for (unsigned i = 0; i < logger.nown && !known; i++) {
        if (logger.own[i] == hash)
            return false;
    }
    if (!known && logger.nown < KNOWN_MAX)
        logger.own[logger.nown++] = hash;
    if (known)
        hidden = sb_log_hidden(logger.shared) + 1;
    // If this fails, a later process shows the message again.
    if (known || end == 0)
        (void)!pwrite(logger.shared, &hidden, sizeof(hidden), 0);
    if (!known && end <= (off_t)sizeof(logger.known))
        (void)!pwrite(logger.shared, &hash, sizeof(hash),
            end ? end : (off_t)sizeof(hidden));
    return known;
}

static void emit(int level, const char *text, bool each)
{
    if (!each && text[0] && strcmp(text, logger.last) == 0) {
        logger.repeats++;
        return;
    }
    if (!each && logger.shared >= 0 &&
        (level == SB_LOG_WARNING || level == SB_LOG_NOTICE) &&
        is_known(hash_of(text)))
        return;
    flush_repeats();
    wipe_progress();
    fprintf(stderr, "%s\n", text);
    snprintf(logger.last, sizeof(logger.last), "%s", text);
}

// Copies the message. Lines after the first one are indented, so that none of
// them looks like a message of its own.
static void indent(char *out, size_t size, const char *message)
{
    size_t n = 0;

    for (; *message && n + 1 < size; message++) {
        out[n++] = *message;
        if (*message != '\n' || strchr(" \t\n", message[1]))
            continue;
        for (int i = 0; i < 4 && n + 1 < size; i++)
            out[n++] = ' ';
    }
    out[n] = '\0';
}

static void log_args(int level, bool each, const char *fmt, va_list ap)
{
    char raw[MESSAGE_MAX], lines[MESSAGE_MAX], text[MESSAGE_MAX];
    size_t len;

    vsnprintf(raw, sizeof(raw), fmt, ap);
    len = (size_t)snprintf(text, sizeof(text), "%s", prefix(level));
    indent(lines, sizeof(lines), raw);
    len += sb_escape(text + len, sizeof(text) - len, lines);
    if (len && text[len - 1] == '\n')
        text[len - 1] = '\0';
    pthread_mutex_lock(&logger.lock);
    emit(level, text, each);
    pthread_mutex_unlock(&logger.lock);
}

void sb_log(int level, const char *fmt, ...)
{
    va_list ap;

    if (level > sb_log_level())
        return;
    va_start(ap, fmt);
    log_args(level, false, fmt, ap);
    va_end(ap);
}

void sb_log_each(int level, const char *fmt, ...)
{
    va_list ap;

    if (level > sb_log_level())
        return;
    va_start(ap, fmt);
    log_args(level, true, fmt, ap);
    va_end(ap);
}

void sb_log_share(int fd)
{
    ssize_t n = pread(
        fd, logger.known, sizeof(logger.known), sizeof(*logger.known));

    logger.nknown = n > 0 ? (unsigned)((size_t)n / sizeof(*logger.known)) : 0;
    logger.nown = 0;
    logger.shared = fd;
}

bool sb_log_is_known(const char *key)
{
    pthread_mutex_lock(&logger.lock);
    bool known = logger.shared >= 0 && is_known(sb_hash_text(key));
    pthread_mutex_unlock(&logger.lock);
    return known;
}

unsigned long sb_log_hidden(int fd)
{
    uint64_t hidden = 0;

    return pread(fd, &hidden, sizeof(hidden), 0) == (ssize_t)sizeof(hidden)
               ? (unsigned long)hidden
               : 0;
}

void sb_log_flush(void)
{
    pthread_mutex_lock(&logger.lock);
    flush_repeats();
    logger.last[0] = '\0';
    pthread_mutex_unlock(&logger.lock);
}

// Shortens a line to fewer than this number of columns, if possible to whole
// parts between commas. A line that wraps cannot be erased.
static void fit(char *text, size_t columns)
{
    size_t n = 0, comma = 0, i;

    assert(columns > 0);
    for (i = 0; text[i]; i++) {
        if (text[i] == ',')
            comma = i;
        // Bytes after the first one of a character take no column.
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (n >= columns)
            break;
    }
    if (text[i])
        text[comma ? comma : i] = '\0';
}

// The width of the terminal may change at any time. Unknown: 0.
static size_t width(void)
{
    struct winsize w = { 0 };

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

void sb_log_progress(const char *fmt, ...)
{
    char raw[PROGRESS_MAX], text[PROGRESS_MAX];
    size_t columns;
    va_list ap;

    if (!isatty(STDERR_FILENO))
        return;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof(raw), fmt, ap);
    va_end(ap);
    sb_escape_line(text, sizeof(text), raw);
    columns = width();
    if (columns > 0)
        fit(text, columns);
    pthread_mutex_lock(&logger.lock);
    flush_repeats();
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
    logger.progress = true;
    pthread_mutex_unlock(&logger.lock);
}

void sb_log_progress_done(void)
{
    pthread_mutex_lock(&logger.lock);
    wipe_progress();
    fflush(stderr);
    pthread_mutex_unlock(&logger.lock);
}
