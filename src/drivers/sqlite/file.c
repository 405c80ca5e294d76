// SPDX-License-Identifier: GPL-2.0-or-later
//
// The database file in the file system: whether it can be written, why it
// cannot be opened, and releasing its space when it is empty.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/sqlite/internal.h"
#include "kit/limits.h"

#define WAL_FORMAT_AT 18 // two bytes of the header, both 2 in WAL mode

bool sqlite_file_missing(const char *path)
{
    struct stat st;

    return stat(path, &st) != 0;
}

// Returns the folder of the file, which the caller frees; NULL: out of memory.
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

// Reasons of errors ----------------------------------------------------------

// Finds what is wrong with the file, or with the folder of a new one.
static bool path_reason(const char *path, char *out, size_t size)
{
    bool exists = !sqlite_file_missing(path);
    char *folder = folder_of(path);
    struct stat st;

    out[0] = '\0';
    if (!folder)
        return false;
    if (exists && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(out, size, ": it is a folder");
    else if (exists && access(path, R_OK) != 0)
        snprintf(out, size, ": %s", strerror(errno));
    else if (stat(folder, &st) != 0)
        snprintf(out, size, ": folder '%.160s': %s", folder, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        snprintf(out, size, ": '%.160s' is not a folder", folder);
    else if (access(folder, W_OK | X_OK) != 0)
        snprintf(out, size, ": folder '%.160s' is not writable: %s", folder,
            strerror(errno));
    else if (exists && access(path, W_OK) != 0)
        snprintf(out, size, ": the file is not writable: %s", strerror(errno));
    free(folder);
    return out[0] != '\0';
}

void sqlite_file_reason(sqlite3 *db, const char *path, char *out, size_t size)
{
    int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_OK;
    int e = db ? sqlite3_system_errno(db) : 0;
    int n;

    out[0] = '\0';
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
        return;
    // The system's error may mislead: it is that of SQLite's last attempt, such
    // as reading a file that does not exist.
    if (e != EMFILE && e != ENFILE && path_reason(path, out, size))
        return;
    if (code != SQLITE_CANTOPEN || e == 0)
        return;
    n = snprintf(out, size, ": %s", strerror(e));
    if (e == EMFILE && n > 0 && (size_t)n < size)
        sb_limit_of_files(out + n, size - (size_t)n);
}

// Reading in read-only folders -----------------------------------------------

static bool in_wal_format(const char *path)
{
    uint8_t head[WAL_FORMAT_AT + 2] = { 0 };
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

    if (f)
        fclose(f);
    return n == sizeof(head) && head[WAL_FORMAT_AT] == 2 &&
           head[WAL_FORMAT_AT + 1] == 2;
}

static bool has_wal(const char *path)
{
    size_t size = strlen(path) + sizeof("-wal");
    char *wal = malloc(size);
    struct stat st;
    bool has;

    if (!wal)
        return true;
    snprintf(wal, size, "%s-wal", path);
    has = stat(wal, &st) == 0 && st.st_size > 0;
    free(wal);
    return has;
}

static bool in_writable_folder(const char *path)
{
    char *folder = folder_of(path);
    bool can = folder && access(folder, W_OK | X_OK) == 0;

    free(folder);
    return can;
}

static char *immutable_uri(const char *path)
{
    static const char ending[] = "?immutable=1", hex[] = "0123456789ABCDEF";
    const char *scheme = path[0] == '/' ? "file://" : "file:";
    char *uri = malloc(strlen(scheme) + 3 * strlen(path) + sizeof(ending)), *p;

    if (!uri)
        return NULL;
    p = stpcpy(uri, scheme);
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (strchr("%?#", c)) {
            *p++ = '%';
            *p++ = hex[c >> 4];
            *p++ = hex[c & 15];
        } else {
            *p++ = *path;
        }
    }
    memcpy(p, ending, sizeof(ending));
    return uri;
}

// To read a file in WAL format, SQLite creates another file in its folder,
// unless the database is opened as immutable. That is correct while there is no
// log, because the database does not change then.
char *sqlite_file_immutable(const char *path)
{
    if (sqlite_file_missing(path) || in_writable_folder(path) ||
        has_wal(path) || !in_wal_format(path))
        return NULL;
    return immutable_uri(path);
}

// Shrinking ------------------------------------------------------------------

static int64_t query_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        value = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return value;
}

void sqlite_file_shrink(const char *path)
{
    sqlite3 *db = NULL;

    // This does not wait for locks, because other connections have priority.
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
            NULL) == SQLITE_OK &&
        query_int(db, "SELECT COUNT(*) FROM sqlite_master WHERE name NOT LIKE "
                      "'sqlite\\_%' ESCAPE '\\'") == 0 &&
        query_int(db, "PRAGMA freelist_count") > 0)
        sqlite3_exec(db, "VACUUM", NULL, NULL, NULL);
    sqlite3_close(db);
}
