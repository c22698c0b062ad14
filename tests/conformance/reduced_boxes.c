/* Stencils of three loops that reduce a sum and a maximum, in five forms: the serial result for every size. */
#include <math.h>
#include <stdio.h>
#define N 9
/* Small integers: sums are exact in any order. */
static float a[N][11][70], b[N][11][70];
static int form1(int ni, int nj, int nk, float *out, float *big)
{
    float s = 0, m = 0;
#pragma acc parallel loop reduction(+:s) reduction(max:m) copyin(a) copyout(b)
    for (int i = 1; i < ni - 1; i++)
#pragma acc loop reduction(+:s) reduction(max:m)
        for (int j = 1; j < nj - 1; j++)
#pragma acc loop reduction(+:s) reduction(max:m)
            for (int k = 1; k < nk - 1; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                b[i][j][k] = v; s += v; m = fmaxf(m, v);
            }
    *out = s; *big = m; return 0;
}
static int form2(int ni, int nj, int nk, float *out, float *big)
{
    float s = 0, m = 0;
#pragma acc parallel loop collapse(3) reduction(+:s) reduction(max:m) copyin(a) copyout(b)
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            for (int k = 1; k < nk - 1; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                b[i][j][k] = v; s += v; m = fmaxf(m, v);
            }
    *out = s; *big = m; return 0;
}
static int form3(int ni, int nj, int nk, float *out, float *big)
{
    float s = 0, m = 0;
#pragma acc parallel loop collapse(2) gang vector reduction(+:s) reduction(max:m) copyin(a) copyout(b)
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            for (int k = 1; k < nk - 1; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                b[i][j][k] = v; s += v; m = fmaxf(m, v);
            }
    *out = s; *big = m; return 0;
}
static int form4(int ni, int nj, int nk, float *out, float *big)
{
    float s = 0, m = 0;
#pragma acc kernels copyin(a) copyout(b)
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            for (int k = 1; k < nk - 1; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                b[i][j][k] = v; s += v; m = fmaxf(m, v);
            }
    *out = s; *big = m; return 0;
}
static int form5(int ni, int nj, int nk, float *out, float *big)
{
    float s = 0, m = 0;
#pragma acc parallel loop gang reduction(+:s) reduction(max:m) copyin(a) copyout(b) vector_length(32)
    for (int i = 1; i < ni - 1; i++)
#pragma acc loop worker reduction(+:s) reduction(max:m)
        for (int j = nj - 2; j >= 1; j--)
#pragma acc loop vector reduction(+:s) reduction(max:m)
            for (int k = 1; k <= nk - 2; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                b[i][j][k] = v; s += v; m = fmaxf(m, v);
            }
    *out = s; *big = m; return 0;
}
int main(void)
{
    int (*forms[])(int, int, int, float *, float *) = {form1, form2, form3, form4, form5};
    int wrong = 0;
    for (int i = 0; i < N * 11 * 70; i++) ((float *)a)[i] = (i * 7) % 13 - 3;
    int sizes[][3] = {{9, 11, 70}, {3, 3, 3}, {2, 5, 70}, {9, 11, 35}, {4, 11, 66}, {8, 3, 70}, {9, 2, 9}};
    for (int f = 0; f < 5; f++)
        for (int z = 0; z < 7; z++) {
            int ni = sizes[z][0], nj = sizes[z][1], nk = sizes[z][2];
            float s, m, rs = 0, rm = 0;
            forms[f](ni, nj, nk, &s, &m);
            for (int i = 1; i < ni - 1; i++) for (int j = 1; j < nj - 1; j++) for (int k = 1; k < nk - 1; k++) {
                float v = a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] + a[i][j][k-1] + a[i][j][k+1];
                rs += v; rm = fmaxf(rm, v); if (b[i][j][k] != v) wrong++;
            }
            if (s != rs || m != rm) { printf("form %d size %d: %g %g, not %g %g\n", f + 1, z, s, m, rs, rm); wrong++; }
        }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
