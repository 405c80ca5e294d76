// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a module declares its options: one table of typed entries with bounds,
// which point into the options struct of the module. Parsing (base/opts.h)
// fills that struct; no option is looked up by name after start-up. Installed,
// because drivers outside this repository declare their options with it.
#ifndef SB_OPTION_H
#define SB_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The type defines the syntax of the text and the C type at the offset.
enum sb_opt_type {
    SB_OPT_BOOL,     // bool        on|true|1|yes, off|false|0|no; no value: on
    SB_OPT_INT,      // int64_t     "12", "10k", "10M": steps of 1,000
    SB_OPT_SIZE,     // int64_t     bytes; "512", "64K", "10M": steps of 1,024
    SB_OPT_DOUBLE,   // double      "0.5", "1e3", "10k"
    SB_OPT_DURATION, // int64_t ns  "90s", "1h30m", "250ms"; bare: seconds
    SB_OPT_STRING,   // const char *, never NULL; owned by the registry
    SB_OPT_LIST,     // struct sb_opt_list, comma-separated
    SB_OPT_ENUM,     // int         index into choices[]
};

struct sb_opt_list {
    const char *const *item; // count strings, owned by the registry
    size_t count;
};

enum sb_opt_flags {
    SB_OPT_SECRET = 1 << 0,     // masked in all output
    SB_OPT_HIDDEN = 1 << 1,     // accepted, but not listed by --help
    SB_OPT_DEPRECATED = 1 << 2, // accepted with a warning that names the
                                // replacement: alias_of or, only if given on
                                // the command line, the text of the help
    SB_OPT_USEC = 1 << 3,     // SB_OPT_DURATION: a bare number is microseconds
    SB_OPT_NOFILE = 1 << 4,   // command line only (--help, --config-file)
    SB_OPT_FILENAME = 1 << 5, // SB_OPT_STRING: --help shows =FILENAME
    SB_OPT_YIELDS = 1 << 6,   // new in 2.0: a script that declares an option of
                              // this name replaces it
    SB_OPT_SCALAR = 1 << 8,   // SB_OPT_LIST that sysbench 1.0 had as one value:
                              // scripts read a single item as a string, or as
                              // a number if the default is one
    SB_OPT_RATE = 1 << 9,     // SB_OPT_DOUBLE: "80%" is a value, too, stored as
                              // -80, and "max", stored as INFINITY. The bounds
                              // apply to numbers
    SB_OPT_COMMON = 1 << 10,  // in the short help
    SB_OPT_SWITCH = 1 << 11,  // SB_OPT_STRING that was a bool in sysbench 1.0:
                              // no value is "on", other words for on and off
                              // are stored as these, and scripts read a bool
    SB_OPT_DATABASES = 1 << 7, // SB_OPT_STRING of a driver: a database, or
                               // several separated by commas. Connections use
                               // them round-robin; connect() gets one name
    SB_OPT_TEXT = 1 << 12, // SB_OPT_STRING: free text, such as a command. In a
                           // config file, "name=" in it is no other option
};

struct sb_opt {
    const char *name; // "report-interval"; users may also write '_' for '-'
    enum sb_opt_type type;
    size_t offset;   // into the module's options struct
    const char *def; // default, parsed like a user's value; NULL: "" or 0
    double min, max; // both 0: no bounds; max < min: only min. In the
                     // type's own unit (seconds for durations, bytes for sizes)
    const char *const *choices; // SB_OPT_ENUM: NULL-terminated
    const char *help;           // one line
    unsigned flags;
    size_t given; // offset of a bool that is set if the value came from a user
                  // (command line, environment, config file,
                  // drv:connect{...}) and is not the default; 0: not used
    const char *alias_of;   // the option that this one sets, of the same table
                            // and type; the alias has no offset. If both come
                            // from one source, the alias is ignored
    const char *instead_of; // of a driver: an option that becomes empty in
                            // connect{} if this one is given there
};

// The options of one module. opts ends with an entry whose name is NULL.
struct sb_opt_table {
    const char *title; // heading in --help and the man page
    const struct sb_opt *opts;
    const char *section; // of the program: NAME of --help=NAME, unique. Not
                         // read in a driver's table: its section is its name
};

#endif
