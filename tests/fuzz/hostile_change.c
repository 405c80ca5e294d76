// SPDX-License-Identifier: GPL-2.0-or-later
//
// Changes of the server's answers.
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

struct change {
    uint8_t number; // of the answer
    uint8_t what;
    uint8_t packet; // of the answer
    uint8_t arg;
    uint16_t at; // place in the packet, or a size
    uint16_t value;
};

// One packet of an answer.
struct part {
    size_t at, len;
};

static struct change change_of(const uint8_t *in)
{
    return (struct change){
        .number = in[0],
        .what = in[1],
        .packet = in[2],
        .arg = in[3],
        .at = (uint16_t)(in[4] | in[5] << 8),
        .value = (uint16_t)(in[6] | in[7] << 8),
    };
}

static unsigned count_parts(
    const struct hostile_protocol *proto, const struct hostile_bytes *b)
{
    unsigned n = 0;

    for (size_t at = 0; at < b->len; n++)
        at += proto->packet(b->data + at, b->len - at);
    return n;
}

// Returns the packet with this number, modulo the number of packets; b is not
// empty.
static struct part part_of(const struct hostile_protocol *proto,
    const struct hostile_bytes *b, unsigned number)
{
    struct part p = { 0 };

    number %= count_parts(proto, b);
    for (unsigned i = 0;; i++) {
        p.len = proto->packet(b->data + p.at, b->len - p.at);
        if (i == number)
            return p;
        p.at += p.len;
    }
}

// Writes a size, count or number that parsers often mishandle.
static void put_odd(uint8_t *out, size_t len, unsigned choice)
{
    static const uint8_t odd[][8] = {
        { 0 },
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f },
        { 0x80 },
        { 0xfb },
        { 0xfc, 0xff, 0xff },
        { 0xfd, 0xff, 0xff, 0xff },
        { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0xfe, 0, 0, 0, 0x80 },
        { 0, 0, 0, 1 },
        { 0, 0, 0x10, 0 },
        { 1 },
        { 0x40 },
    };
    size_t n = 1u << choice % 4;
    const uint8_t *from = odd[choice / 4 % (sizeof(odd) / sizeof(odd[0]))];

    memcpy(out, from, n < len ? n : len);
}

static const struct hostile_bytes *other_answer(
    const struct hostile_tape *tape, unsigned number)
{
    return &tape->turn[number % tape->n].answer;
}

// Grows or shrinks the body of a packet and, depending on the change, updates
// its head.
static void resize(const struct hostile_protocol *proto,
    struct hostile_bytes *b, const struct change *c, struct part p)
{
    uint8_t fill[256];
    size_t body = p.len > proto->head ? p.len - proto->head : 0;
    size_t at = proto->head + (body ? c->at % body : 0);

    if (body == 0)
        return;
    memset(fill, c->value & 0xff, sizeof(fill));
    if (c->value & 0x100) {
        hostile_splice(b, p.at + at, 0, fill, c->arg);
        p.len += c->arg;
    } else {
        size_t cut = 1 + c->arg % (p.len - at);

        hostile_splice(b, p.at + at, cut, NULL, 0);
        p.len -= cut;
    }
    if (!(c->value & 0x200))
        proto->set_length(b->data + p.at, p.len);
}

// Inserts or substitutes a packet of this answer or of another one.
static void insert(const struct hostile_protocol *proto,
    const struct hostile_tape *tape, struct hostile_bytes *b,
    const struct change *c, struct part p)
{
    const struct hostile_bytes *from = c->value & 0x100
                                           ? b
                                           : other_answer(tape, c->arg);
    struct hostile_bytes copy = { 0 };
    struct part which;

    if (from->len == 0)
        return;
    which = part_of(proto, from, c->value & 0xff);
    hostile_add(&copy, from->data + which.at, which.len);
    hostile_splice(b, c->value & 0x200 ? b->len : p.at,
        c->value & 0x400 ? (c->value & 0x200 ? 0 : p.len) : 0, copy.data,
        copy.len);
    free(copy.data);
}

static void change_bytes(const struct hostile_protocol *proto,
    struct hostile_bytes *b, const struct change *c, struct part p)
{
    // Half of the changes may be in the head; the others are in the body only.
    size_t at = p.at + (c->arg & 0x80 || p.len <= proto->head
                               ? c->at % p.len
                               : proto->head + c->at % (p.len - proto->head));

    switch (c->what % 12) {
    case 0:
        b->data[at] = (uint8_t)c->value;
        break;
    case 1:
        b->data[at] ^= (uint8_t)(1u << c->value % 8);
        break;
    case 2:
        b->data[at] = (uint8_t)(b->data[at] + (c->value & 1 ? 1 : -1));
        break;
    default:
        put_odd(b->data + at, b->len - at, c->value);
    }
}

static void change(const struct hostile_protocol *proto,
    const struct hostile_tape *tape, struct hostile_bytes *b,
    const struct change *c, struct hostile_fate *fate)
{
    struct part p = part_of(proto, b, c->packet);

    switch (c->what % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        change_bytes(proto, b, c, p);
        break;
    case 4:
        resize(proto, b, c, p);
        break;
    case 5:
    case 6:
        insert(proto, tape, b, c, p);
        break;
    case 7: // remove this packet
        hostile_splice(b, p.at, p.len, NULL, 0);
        break;
    case 8: // cut the answer here
        b->len = p.at + c->at % p.len;
        fate->close = c->value & 1;
        break;
    case 9:
        fate->close = true;
        break;
    case 10:
        fate->pieces = 1 + c->at % 64;
        break;
    default: // replace by the answer to another request
        hostile_splice(b, 0, b->len, NULL, 0);
        hostile_add(b, other_answer(tape, c->arg)->data,
            other_answer(tape, c->arg)->len);
    }
    // A client ignores everything after a packet that is out of order.
    if (proto->number && !(c->arg & 0x40) && b->len > proto->head)
        proto->number(b->data, b->len, b->data[proto->head - 1]);
}

struct hostile_fate hostile_change(const struct hostile_protocol *proto,
    const struct hostile_tape *tape, const uint8_t *input, size_t size,
    unsigned number, struct hostile_bytes *answer)
{
    struct hostile_fate fate = { 0 };

    for (; size >= HOSTILE_CHANGE;
         input += HOSTILE_CHANGE, size -= HOSTILE_CHANGE) {
        struct change c = change_of(input);

        if (c.number % tape->n == number && answer->len > 0)
            change(proto, tape, answer, &c, &fate);
    }
    return fate;
}
