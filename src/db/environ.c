// SPDX-License-Identifier: GPL-2.0-or-later
//
// Environment variables for client libraries. A library may read them as soon
// as it is loaded, before a function of its driver can be called. The modules
// with the options of drivers do not need the libraries, so they say which.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"

#define SUFFIX "-options.so"

static void set_variable(const char *text)
{
    char name[64];
    size_t len = strcspn(text, "=");

    if (text[len] != '=' || len == 0 || len >= sizeof(name))
        return;
    memcpy(name, text, len);
    name[len] = '\0';
    setenv(name, text + len + 1, 0);
}

static void set_variables_of(const char *dir, const char *driver)
{
    void *handle;
    const struct sb_driver_options *o = sb__options_open(dir, driver, &handle);

    for (size_t i = 0; o && o->environment && o->environment[i]; i++)
        set_variable(o->environment[i]);
    sb__options_close(handle);
}

void sb_environ_set(const char *dir)
{
    DIR *modules = opendir(dir);
    struct dirent *e;

    while (modules && (e = readdir(modules)) != NULL) {
        size_t len = strlen(e->d_name);

        if (len <= strlen(SUFFIX) ||
            strcmp(e->d_name + len - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        e->d_name[len - strlen(SUFFIX)] = '\0';
        set_variables_of(dir, e->d_name);
    }
    if (modules)
        closedir(modules);
}
