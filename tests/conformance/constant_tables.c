/*
 * Tables whose values are known when the program is compiled (fold-constant-tables), beside arrays that only
 * look like tables: changed later, through a pointer or on the device, or with another copy on the device.
 */
#include <openacc.h>

#include "check.h"

#define N 100
#define EACH(value)                                                               \
    for (int i = 0; i < N; i++)                                                   \
        CHECK_NEAR(b[i], value)

typedef struct {
    int dx, dy;
    float w;
} tap;

const float global_const[3] = {1.f, 2.f, 1.f};
float external[3] = {3, 1, 3};
static float never_written[3] = {0.25f, 0.5f, 0.25f};
static float written[3] = {1, 2, 3};
static float made[3] = {9, 9, 9};
static const tap taps[2] = {{1, 0, .5f}, {2, 1, .25f}};
static const double squares[2][2] = {{1, 2}, {3, 4}};
const float declared[3] = {5, 6, 7};
#pragma acc declare copyin(declared)

static float a[N + 3], b[N];

static float first_of(const float *p) { return p[0]; }
static void change(float *p) { p[1] = 77; }

static void local_tables(void)
{
    int g[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
#pragma acc parallel loop copyin(a, g) copyout(b)
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int k = 0; k < 3; k++)
            s += a[i + k] * (g[0][k] + g[2][k] + g[k][1]);
        b[i] = s;
    }
    EACH(-2 * a[i] + 2 * a[i + 2]);

    int twice[2];
    twice[0] = 1;
    twice[1] = 2;
    twice[0] = 4;
#pragma acc parallel loop copyin(a, twice) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * twice[0] + a[i + 1] * twice[i % 2];
    EACH(4 * a[i] + (i % 2 ? 2 : 4) * a[i + 1]);

    const float zeros[40] = {1, [39] = 2};
#pragma acc parallel loop copyin(a, zeros[0:40]) copyout(b)
    for (int i = 0; i < N; i++) {
#pragma acc cache(zeros[0:40])
        b[i] = a[i] + zeros[i % 40] + zeros[39];
    }
    EACH(a[i] + (i % 40 == 0) + 2 * (i % 40 == 39) + 2);
}

static void changed_tables(void)
{
    int g[3] = {1, 2, 3};
    g[1] = 5 + (a[0] > 100);
#pragma acc parallel loop copyin(a, g) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * g[0] + a[i + 1] * g[1];
    EACH(a[i] + 5 * a[i + 1]);
    g[0] = 2;
#pragma acc parallel loop copyin(a, g) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * g[0] + a[i + 1] * g[1];
    EACH(2 * a[i] + 5 * a[i + 1]);

    for (int t = 0; t < 2; t++) {
        int branch[1];
        if (t == 0)
            branch[0] = 1;
        else
            branch[0] = 2;
#pragma acc parallel loop copyin(a, branch) copyout(b)
        for (int i = 0; i < N; i++)
            b[i] = a[i] * branch[0];
        EACH(a[i] * (t + 1));
    }

    int later[1] = {3};
    for (int t = 0; t < 2; t++) {
#pragma acc parallel loop copyin(a, later) copyout(b)
        for (int i = 0; i < N; i++)
            b[i] = a[i] * later[0];
        EACH(a[i] * (t ? 7 : 3));
        later[0] = 7;
    }

    float by_pointer[3] = {1, 2, 3};
    const float kept[3] = {1, 2, 3};
    change(by_pointer);
    CHECK(first_of(kept) == 1);
#pragma acc parallel loop copyin(a, by_pointer, kept) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * by_pointer[1] + a[i + 1] * kept[1];
    EACH(77 * a[i] + 2 * a[i + 1]);

    const float late[2] = {a[1], 2};
    volatile float moving[2] = {1, 2};
    moving[1] = 3;
#pragma acc parallel loop copyin(a, late, moving) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * late[0] + moving[1];
    EACH(a[i] * a[1] + 3);
}

static void scalars(void)
{
    const float q = 1 / 16.f;
    float half = 0.5f;
    const int n = 2;
    enum { THREE = 3 };
#pragma acc parallel loop copyin(a, half) copyout(b) firstprivate(q) copyin(n)
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int k = 0; k < n; k++)
            s += a[i + k] * q * half * THREE;
        b[i] = s;
    }
    EACH((a[i] + a[i + 1]) * (3 / 32.f));
}

static void globals(void)
{
#pragma acc parallel loop copyin(a, global_const, taps) copyout(b)
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int k = 0; k < 3; k++)
            s += a[i + k] * global_const[k] * never_written[k] * external[k] * declared[k];
        b[i] = s + taps[1].w * taps[i % 2].dx + squares[i % 2][1];
    }
    EACH(a[i] * 3.75f + a[i + 1] * 6 + a[i + 2] * 5.25f + .25f * (1 + i % 2) + (i % 2 ? 4 : 2));
}

static void device_copies(void)
{
#pragma acc data copy(written) create(made) copyin(a) copyout(b)
    {
#pragma acc parallel loop
        for (int i = 0; i < 3; i++) {
            written[i] += 1;
            made[i] = i;
        }
#pragma acc parallel loop present(written)
        for (int i = 0; i < N; i++)
            b[i] = a[i] * written[0] + a[i + 1] * made[2];
    }
    EACH(2 * a[i] + 2 * a[i + 1]);

    float updated[2] = {1, 2};
#pragma acc enter data create(updated)
    updated[0] = 8;
#pragma acc update device(updated)
#pragma acc parallel loop present(updated) copyin(a) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * updated[0] + a[i + 1] * updated[1];
#pragma acc exit data delete(updated)
    EACH(8 * a[i] + 2 * a[i + 1]);

    const float mapped[2] = {1, 2};
    if (separate_memory()) {
        float other[2] = {5, 6};
        void *memory = acc_malloc(sizeof other);
        acc_memcpy_to_device(memory, other, sizeof other);
        acc_map_data((void *)mapped, memory, sizeof mapped);
#pragma acc parallel loop present(mapped) copyin(a) copyout(b)
        for (int i = 0; i < N; i++)
            b[i] = a[i] * mapped[0] + mapped[i % 2];
        acc_unmap_data((void *)mapped);
        acc_free(memory);
        EACH(5 * a[i] + 5 + i % 2);
    }
}

static void private_copies(void)
{
    float w[2] = {1, 2};
#pragma acc parallel loop private(w) copyin(a) copyout(b)
    for (int i = 0; i < N; i++) {
        w[0] = i;
        w[1] = 1;
        b[i] = a[i] * w[0] + a[i + 1] * w[1];
    }
    EACH(i * a[i] + a[i + 1]);

#pragma acc parallel loop copyin(a) copyout(b)
    for (int i = 0; i < N; i++) {
        const int same[4] = {1, 0, 2, 5};
        int counted[2] = {3, 4}, own[2] = {1, i};
        counted[i % 2] += 1;
        b[i] = a[i] * same[i % 4] + a[i + 1] * counted[0] + own[1];
    }
    EACH(a[i] * ((int[]){1, 0, 2, 5})[i % 4] + a[i + 1] * (i % 2 ? 3 : 4) + i);
}

static void types(void)
{
    const signed char bytes[6] = {-1, -2, 3, 4, 5, 6};
    const unsigned short large[3] = {65535, 1, 2};
    const long wide[2] = {-5000000000, 1};
    const int *literal = (const int[]){4, 5, 6};
#pragma acc parallel loop copyin(a, bytes[1:3], large, wide, literal[0:3]) copyout(b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * bytes[1] + bytes[1 + i % 3] + large[0] + (wide[0] < 0) + literal[i % 3];
    EACH(-2 * a[i] + ((int[]){-2, 3, 4})[i % 3] + 65536 + 4 + i % 3);
}

int main(void)
{
    for (int i = 0; i < N + 3; i++)
        a[i] = i % 7;
    local_tables();
    changed_tables();
    scalars();
    globals();
    device_copies();
    private_copies();
    types();
    return report();
}
