/* Structures with a stricter alignment than their members' (GNU C), in all the places where it is written. */
#include "check.h"
#include <stddef.h>
#include <stdint.h>

struct a { char c; int x; } __attribute__((aligned(16)));
struct __attribute__((aligned(32))) b { char c; struct a in; char d; };
typedef struct { float x, y, z; } __attribute__((aligned(16))) triple;
typedef struct __attribute__((deprecated)) __attribute__((aligned(64))) { double v; } line;
struct out { char c; triple f; line l; short s; };
union __attribute__((aligned(8))) u { char c[3]; };
static struct out table[3];
static struct a initialised[2] = {{1, 2}, {3, 4}};

int main(void)
{
    line local[2];
    struct b one;
    triple v[10];
    struct out copy;
    CHECK_EQ(sizeof(struct a), 16);
    CHECK_EQ(sizeof(struct b), 64);
    CHECK_EQ(offsetof(struct b, in), 16);
    CHECK_EQ(offsetof(struct b, d), 32);
    CHECK_EQ(sizeof(triple), 16);
    CHECK_EQ(sizeof(line), 64);
    CHECK_EQ(offsetof(struct out, l), 64);
    CHECK_EQ(sizeof(struct out), 192);
    CHECK_EQ(sizeof(union u), 8);
    CHECK_EQ(_Alignof(line), 64);
    CHECK_EQ((uintptr_t)local % 64, 0);
    CHECK_EQ((uintptr_t)&one % 32, 0);
    CHECK_EQ((uintptr_t)table % 64, 0);
    CHECK_EQ(initialised[1].c * 10 + initialised[1].x, 34);
    table[1].l.v = 3;
    table[1].s = 4;
    copy = table[1];
    CHECK_EQ(copy.l.v + copy.s, 7);
#pragma acc parallel loop copyout(v)
    for (int i = 0; i < 10; i++) {
        v[i].x = i;
        v[i].z = 2 * i;
    }
    for (int i = 0; i < 10; i++)
        CHECK_EQ(v[i].x * 3, v[i].x + v[i].z);
    return report();
}
