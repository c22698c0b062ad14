/* Sections whose rows bulk copies can bring; -DNO_CACHE compiles them without the directives. */

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Rows are `pa` and `pb` elements apart, and begin `skip` elements behind the start of the arrays. */
void product(int n, int pa, int pb, int skip, const float *restrict ma, float (*restrict mb)[pb],
             float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(ma[0:n*pa+skip], mb[0:n]) copyout(c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k += 16) {
                CACHE(readonly: ma[i*pa+k+skip:16], mb[k:16][j+skip:1])
                for (int q = k; q < MIN(k + 16, n); q++)
                    sum += ma[i * pa + q + skip] * mb[q][j + skip];
            }
            c[i * n + j] = sum;
        }
}

void matrices(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:n], b[0:n]) copyout(c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k += 16) {
                CACHE(readonly: a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < MIN(k + 16, n); q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

/* Rows that the padding of the array aligns: 72 doubles apart, 64 used; gangs take several blocks. */
void doubles(int n, double (*restrict a)[72], double (*restrict b)[72])
{
#pragma acc parallel loop gang num_gangs(2) vector_length(64) copyin(a[0:n]) copy(b[0:n])
    for (int i = 2; i < n - 2; i++) {
#pragma acc loop vector
        for (int j = 2; j < 66; j++) {
            CACHE(readonly: a[i-2:5][j-2:5])
            b[i][j] = a[i - 2][j] + a[i + 2][j] + a[i][j - 2] + a[i][j + 2] - 4 * a[i][j];
        }
    }
}

void line(int n, int skip, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop num_gangs(3) vector_length(128) copyin(a[0:n]) copy(b[0:n])
    for (int i = skip + 8; i < n - 8; i++) {
        float sum = 0;
        CACHE(readonly: a[i-8:17])
        for (int k = -8; k <= 8; k++)
            sum += a[i + k];
        b[i] = sum;
    }
}

/* Two groups of tiles, one of which is renewed, in one block of code. */
void groups(int n, int m, const float *restrict a, const float *restrict w, float *restrict b)
{
#pragma acc parallel loop vector_length(64) copyin(a[0:n+16], w[0:m]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        CACHE(readonly: a[i:17])
        for (int t = 0; t < m; t += 32) {
            CACHE(readonly: w[t:32])
            for (int k = t; k < MIN(t + 32, m); k++)
                sum += w[k] * a[i + k % 17];
        }
        b[i] = sum;
    }
}

/* Bytes, in rows of 48. */
void bytes(int n, const unsigned char *restrict a, int *restrict b)
{
#pragma acc parallel loop vector_length(32) copyin(a[0:n+16]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        int sum = 0;
        CACHE(readonly: a[i:17])
        for (int k = 0; k < 17; k++)
            sum += a[i + k];
        b[i] = sum;
    }
}
