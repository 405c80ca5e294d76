// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/userfile.h"

#include <errno.h>
#include <stdlib.h>

char *sb_userfile_path(const char *path)
{
    const char *home = getenv("HOME");
    size_t size;
    char *out;

    if (path[0] != '~' || path[1] != '/' || !home)
        return strdup(path);
    size = strlen(home) + strlen(path);
    out = malloc(size);
    if (out)
        snprintf(out, size, "%s%s", home, path + 1);
    return out;
}

// Reads the first line. The caller frees *line, also after an error. Returns
// its length without its end, or -1: errno is 0 if the file is empty.
static ssize_t read_line(const char *path, char **line)
{
    FILE *f = fopen(path, "r");
    size_t size = 0;
    ssize_t n;
    int no;

    if (!f)
        return -1;
    errno = 0;
    n = getline(line, &size, f);
    no = n < 0 && !feof(f) ? errno : 0;
    fclose(f);
    errno = no;
    if (n > 0 && (*line)[n - 1] == '\n') {
        n--;
        if (n > 0 && (*line)[n - 1] == '\r')
            n--;
        (*line)[n] = '\0';
    }
    return n;
}

int sb_userfile_password(
    const char *option, const char *path, char **out, struct sb_err *err)
{
    char *line = NULL, *real = sb_userfile_path(path);
    ssize_t n = real ? read_line(real, &line) : -1;
    int no = errno, rc = 0;

    free(real);
    if (!real || (n < 0 && no == ENOMEM))
        rc = sb_err_no_memory(err);
    else if (n < 0 && no)
        rc = sb_err_set(err, SB_EUSAGE, "%s: cannot read file '%s': %s", option,
            path, strerror(no));
    else if (n < 0)
        rc = sb_err_set(err, SB_EUSAGE, "%s: file '%s' is empty", option, path);
    else if (strlen(line) < (size_t)n)
        rc = sb_err_set(err, SB_EUSAGE,
            "%s: the first line of file '%s' contains a zero byte", option,
            path);
    if (rc)
        free(line);
    else
        *out = line;
    return rc;
}
