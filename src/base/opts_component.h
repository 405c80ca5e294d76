// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options of one component of a mix, in the registry of all options under the
// name COMPONENT.NAME. There are three kinds: what its script declares, copies
// of options of the program and of drivers, and settings of scripts that
// declare nothing. Main thread, while options are added.
//
// Settings of COMPONENT.NAME win over those of NAME from the same source; a
// stronger source wins in any case. `title` is that of the script's options, as
// in sb_opts_add_script(). Views have `component` and `plain`, the name without
// the component. The registry owns all storage.
#ifndef SB_OPTS_COMPONENT_H
#define SB_OPTS_COMPONENT_H

#include "base/opts.h"

// Declares an option of the script, as sb_opts_add_script(). A setting of
// `name` alone is a weaker spelling of it, for each component that declares it.
// If the program has an option `name` without SB_OPT_YIELDS, nothing is
// declared, and def_text becomes the default of that option; if it has one with
// SB_OPT_YIELDS, `name` alone remains that option. 0, SB_EUSAGE, SB_ENOMEM.
int sb_opts_add_component(struct sb_opts *o, const char *title,
    const char *component, const char *name, const char *help,
    enum sb_opt_type type, const char *def_text, struct sb_err *err);

// Declares a copy of each option of the program or of a loaded driver for which
// users gave COMPONENT.NAME. The copy has the value of the option where the
// component has none from an equal or a stronger source. Settings that are
// declared already, and names that nothing declares, are left alone: call it
// again when a driver has added its options. SB_EUSAGE: allowed() returned
// false, or a value is wrong. SB_ENOMEM.
int sb_opts_own(struct sb_opts *o, const char *title, const char *component,
    bool (*allowed)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err);
// Stores the value of such a copy, a view, in the struct `target`, as that of
// `opt`, the option that was copied.
void sb_opts_copy_own(
    const struct sb_opt_view *own, const struct sb_opt *opt, void *target);

// Visits the settings that are for the script of a component if it declares
// nothing: COMPONENT.NAME, and names that neither the program nor a driver
// declares. visit() as in sb_opts_unclaimed(); name is without the component.
int sb_opts_undeclared(const struct sb_opts *o, const char *component,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg);

#endif
