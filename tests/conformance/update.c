/* update: self, host, device, if, if_present, async, wait, sections, strided sections, members. */
#include "check.h"
#include <openacc.h>

#define N 40

struct pair { int a, b; };

int main(void)
{
    int a[N], i, j, m[6][7], (*p)[7] = m;
    struct pair s = {1, 2}, ps[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    int discrete = separate_memory();

    for (i = 0; i < N; i++)
        a[i] = i;
    for (i = 0; i < 6; i++)
        for (j = 0; j < 7; j++)
            m[i][j] = 10 * i + j;
#pragma acc data copyin(a, m, s, ps)
    {
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] += 100;
#pragma acc update self(a[4:3])
        CHECK_EQ(a[4], 104);
        CHECK_EQ(a[6], 106);
        if (discrete) {
            CHECK_EQ(a[3], 3);
            CHECK_EQ(a[7], 7);
        }
#pragma acc update host(a)
        CHECK_EQ(a[7], 107);
        for (i = 0; i < N; i++)
            a[i] = -i;
#pragma acc update device(a[0:N / 2]) if(a[1] == -1)
#pragma acc update device(a) if(0)
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] *= 2;
#pragma acc update self(a) async(2)
#pragma acc wait(2)
        CHECK_EQ(a[19], -38);
        if (discrete)
            CHECK_EQ(a[20], 240);

        /* a block of columns: not contiguous */
#pragma acc parallel loop collapse(2)
        for (i = 0; i < 6; i++)
            for (j = 0; j < 7; j++)
                m[i][j] = -m[i][j];
#pragma acc update self(p[1:4][2:3])
        CHECK_EQ(m[1][2], -12);
        CHECK_EQ(m[4][4], -44);
        if (discrete) {
            CHECK_EQ(m[1][1], 11);
            CHECK_EQ(m[1][5], 15);
            CHECK_EQ(m[0][2], 2);
            CHECK_EQ(m[5][2], 52);
        }
        for (i = 0; i < 6; i++)
            for (j = 0; j < 7; j++)
                m[i][j] = 7;
#pragma acc update device(m[2:2][6:1])
#pragma acc update self(m)
        CHECK_EQ(m[2][6], 7);
        CHECK_EQ(m[3][6], 7);
        CHECK_EQ(m[2][5], discrete ? -25 : 7);

        s.a = 50;
        s.b = 60;
#pragma acc update device(s.b)
#pragma acc serial
        {
            s.a += 1;
            s.b += 1;
            ps[2].a = 99;
        }
#pragma acc update self(s, ps[2:1])
        CHECK_EQ(s.a, discrete ? 2 : 51);
        CHECK_EQ(s.b, 61);
        CHECK_EQ(ps[2].a, 99);
    }
#pragma acc update self(a) if_present
#pragma acc update device(a[3:4], m) if_present async wait
#pragma acc wait
    return report();
}
