#include <stdio.h>
#include <stdlib.h>
#define N 1000
int off[N + 1], cols[200 * N], len[N], beg[N], fin[N];
double coef[200 * N], x[N], y[N], z[N], w[N], v[N];
void spmv(int rows, int nnz, const int *o, double *out)
{
#pragma acc parallel loop gang worker async(3) copyin(o[0:rows+1], cols[0:nnz], coef[0:nnz], x[0:rows]) copyout(out[0:rows])
    for (int i = 0; i < rows; i++) {
        double sum = 0.0;
        int s = o[i], e = o[i + 1];
#pragma acc loop vector reduction(+:sum)
        for (int j = s; j < e; j++)
            sum += coef[j] * x[cols[j]];
        out[i] = sum;
    }
#pragma acc wait(3)
}
int main(void)
{
    double t[4];
    for (int mean = 0; mean <= 190; mean += 38) {
        int nnz = 0;
        double norm = 0.0;
        for (int i = 0; i < N; i++) {
            off[i] = nnz;
            nnz += mean == 0 ? 0 : mean - 5 + i % 11;
            len[i] = i % 40;
            x[i] = 1.0 + i % 7;
            y[i] = z[i] = w[i] = v[i] = -1;
        }
        off[N] = nnz;
        for (int j = 0; j < nnz; j++) { cols[j] = (j * 37) % N; coef[j] = 0.5 + j % 3; }
        for (int i = 0; i < N; i++) { beg[i] = off[N - 1 - i]; fin[i] = off[N - i]; }
        spmv(N, nnz, off, y);
        /* two arrays of bounds, free loops, a section that starts later, a reduction of the construct */
#pragma acc parallel loop copyin(beg, fin, cols, coef, x) copy(z) reduction(+:norm)
        for (int i = 3; i < N - 2; i++) {
            double sum = 0.0;
#pragma acc loop reduction(+:sum)
            for (int j = beg[i]; j < fin[i]; j++)
                sum += coef[j] * x[cols[j]];
            z[i] = sum;
            norm += sum;
        }
        /* counts per row, no reduction */
#pragma acc parallel loop gang worker copyin(len) copy(w) private(t)
        for (int i = 0; i < N; i++) {
            t[0] = i;
#pragma acc loop vector
            for (int j = 0; j < len[i]; j++)
                if (j == len[i] - 1)
                    w[i] = t[0] + j;
        }
        double s = 0;
        for (int i = 0; i < N; i++) s += y[i] * (i + 1) + z[i] * (i % 13) + w[i];
        printf("%d %.6f %.6f\n", mean, s, norm);
    }
}
