// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds the process that listens at an address: the socket's inode is in
// /proc/net, and the process has an open file that names the inode.
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/procstat.h"
#include "base/procstat_private.h"

#define TCP_LISTEN_STATE 10u
#define UNIX_LISTENS     0x10000u // flag of a socket that accepts connections

// Addresses ------------------------------------------------------------------

struct place {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a;
    unsigned port;
};

// "10.0.0.1:5432", "[::1]:5432", "localhost:27017"
static bool parse_place(const char *address, struct place *out)
{
    const char *colon = strrchr(address, ':');
    char host[256];
    size_t n;

    memset(out, 0, sizeof(*out));
    if (!colon || colon == address)
        return false;
    n = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']')
        snprintf(host, sizeof(host), "%.*s", (int)n - 2, address + 1);
    else
        snprintf(host, sizeof(host), "%.*s", (int)n, address);
    out->port = (unsigned)strtoul(colon + 1, NULL, 10);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof(host), "127.0.0.1");
    if (inet_pton(AF_INET, host, &out->a.v4.sin_addr) == 1)
        out->a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, host, &out->a.v6.sin6_addr) == 1)
        out->a.any.sa_family = AF_INET6;
    return out->port > 0 && out->a.any.sa_family;
}

static bool same_host(const struct place *p, const struct sockaddr *a)
{
    if (!a || a->sa_family != p->a.any.sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                   &p->a.v4.sin_addr, sizeof(p->a.v4.sin_addr)) == 0;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
               &p->a.v6.sin6_addr, sizeof(p->a.v6.sin6_addr)) == 0;
}

// A process of this machine may listen on the port of a server that is on
// another machine.
static bool is_local(const struct place *p)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (p->a.any.sa_family == AF_INET &&
        (ntohl(p->a.v4.sin_addr.s_addr) >> 24) == 127)
        return true;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = same_host(p, i->ifa_addr);
    freeifaddrs(all);
    return found;
}

// Sockets --------------------------------------------------------------------

// "  sl  local_address rem_address   st ...  uid timeout inode":
// the local address ends with ":PORT" in hexadecimal.
static uint64_t tcp_inode(const char *line, unsigned port)
{
    unsigned at, state;
    char local[40];
    uint64_t inode;

    if (sscanf(line,
            " %*u: %39[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*u %*u "
            "%" SCNu64,
            local, &at, &state, &inode) != 4)
        return 0;
    return at == port && state == TCP_LISTEN_STATE ? inode : 0;
}

// "Num RefCount Protocol Flags Type St Inode Path"
static uint64_t unix_inode(const char *line, const char *path)
{
    unsigned flags;
    uint64_t inode;
    int at = 0;

    if (sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags,
            &inode, &at) != 2 ||
        !at)
        return 0;
    if (!(flags & UNIX_LISTENS) ||
        strncmp(line + at, path, strlen(path)) != 0 ||
        line[at + (int)strlen(path)] != '\n')
        return 0;
    return inode;
}

static uint64_t search(const char *file, unsigned port, const char *path)
{
    FILE *f = fopen(file, "re");
    char line[512];
    uint64_t inode = 0;

    while (f && !inode && fgets(line, sizeof(line), f))
        inode = path ? unix_inode(line, path) : tcp_inode(line, port);
    if (f)
        fclose(f);
    return inode;
}

static uint64_t inode_of(const char *address)
{
    struct place p;
    uint64_t inode;

    if (address[0] == '/')
        return search("/proc/net/unix", 0, address);
    if (!parse_place(address, &p) || !is_local(&p))
        return 0;
    inode = search("/proc/net/tcp", p.port, NULL);
    return inode ? inode : search("/proc/net/tcp6", p.port, NULL);
}

// Processes ------------------------------------------------------------------

static bool has_socket(const char *pid, const char *name)
{
    char path[64], link[64], target[64];
    DIR *dir;
    struct dirent *e;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
    dir = opendir(path);
    while (dir && !found && (e = readdir(dir)) != NULL) {
        ssize_t n;

        snprintf(link, sizeof(link), "/proc/%.20s/fd/%.20s", pid, e->d_name);
        n = readlink(link, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        found = strcmp(target, name) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

// Children may have inherited the socket: the oldest process is the server.
static int64_t process_with(uint64_t inode)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    char name[48];
    uint64_t start = UINT64_MAX;
    int64_t pid = 0;

    snprintf(name, sizeof(name), "socket:[%" PRIu64 "]", inode);
    while (dir && (e = readdir(dir)) != NULL) {
        char path[48], text[1024];
        struct sb_proc_stat s;

        if (!isdigit((unsigned char)e->d_name[0]) ||
            !has_socket(e->d_name, name))
            continue;
        snprintf(path, sizeof(path), "/proc/%.20s/stat", e->d_name);
        if (sb__proc_read(path, text, sizeof(text)) == 0 &&
            sb_procstat_parse_stat(text, &s) && s.start_ticks < start) {
            start = s.start_ticks;
            pid = s.pid;
        }
    }
    if (dir)
        closedir(dir);
    return pid;
}

int64_t sb_procstat_listener(const char *address)
{
    uint64_t inode = inode_of(address);

    return inode ? process_with(inode) : 0;
}
