/* Nests of many shapes around `cache` directives; -DNO_CACHE compiles them without. */

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif

#define R 20
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* The commonest use: a clause on the loop that adds up. */
void product(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:n], b[0:n]) copyout(c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k += 16) {
                CACHE(a[i:1][k:16], b[k:16][j:1])
#pragma acc loop reduction(+:sum)
                for (int q = k; q < MIN(k + 16, n); q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

/* Both sequential loops have clauses. */
void product_seq(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:n], b[0:n]) copyout(c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
#pragma acc loop seq reduction(+:sum)
            for (int k = 0; k < n; k += 16) {
                CACHE(a[i:1][k:16], b[k:16][j:1])
#pragma acc loop seq reduction(+:sum)
                for (int q = k; q < MIN(k + 16, n); q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

/* The parallel loop itself reduces, into two variables. */
void dot(int n, const int *restrict a, const int *restrict b, int *restrict out)
{
    int s = 3, most = -100;
#pragma acc parallel loop reduction(+:s) reduction(max:most) copyin(a[0:n], b[0:n])
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-R:2*R+1])
        int t = 0;
        for (int j = i - R; j <= i + R; j++)
            t += a[j];
        s += t * b[i];
        if (t > most)
            most = t;
    }
    out[0] = s;
    out[1] = most;
}

/* A reduction over two loops. */
void total(int n, int (*restrict a)[n], int *restrict out)
{
    int s = 0;
#pragma acc parallel loop collapse(2) reduction(+:s) copyin(a[0:n])
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < n - 2; j++) {
            CACHE(a[i-2:5][j-2:5])
            int t = 0;
            for (int y = -2; y <= 2; y++)
                for (int x = -2; x <= 2; x++)
                    t += a[i + y][j + x];
            s += t % 7;
        }
    out[0] = s;
}

/* A reduction for each iteration of the outer loop. */
void norms(int m, int n, int (*restrict a)[n], int *restrict out)
{
#pragma acc parallel loop gang copyin(a[0:m]) copyout(out[0:m])
    for (int i = 0; i < m; i++) {
        int s = i;
#pragma acc loop vector reduction(+:s)
        for (int j = R; j < n - R; j++) {
            CACHE(a[i:1][j-R:2*R+1])
            int t = 0;
            for (int k = j - R; k <= j + R; k++)
                t += a[i][k];
            s += t % 5;
        }
        out[i] = s;
    }
}

void privates(int n, const float *restrict a, float *restrict b)
{
    float t, u[3];
#pragma acc parallel loop private(t, u) copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-R:2*R+1])
        t = 0;
        for (int q = 0; q < 3; q++)
            u[q] = q;
        for (int j = i - R; j <= i + R; j++)
            t += a[j] * u[j % 3];
        b[i] = t;
    }
}

void inner_privates(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++) {
        float u, t = 0;
        CACHE(a[i-R:2*R+1])
#pragma acc loop seq private(u) reduction(+:t)
        for (int j = i - R; j <= i + R; j++) {
            u = a[j] * 2;
            t += u;
        }
        b[i] = t;
    }
}

/* Two nests of one construct. */
void two(int n, const float *restrict a, float *restrict b, float *restrict c)
{
#pragma acc parallel copyin(a[0:n]) copy(b[0:n], c[0:n])
    {
#pragma acc loop
        for (int i = R; i < n - R; i++) {
            CACHE(a[i-R:2*R+1])
            float t = 0;
            for (int j = i - R; j <= i + R; j++)
                t += a[j];
            b[i] = t;
        }
#pragma acc loop
        for (int i = 3 * R; i < n - R; i++) {
            CACHE(a[i-R:2*R+1])
            float t = 0;
            for (int j = i - R; j <= i + R; j++)
                t += a[j] * (j - i);
            c[i] = t;
        }
    }
}

/* A nest of one loop and one of two: the latter has one dimension of the grid, too. */
void unequal(int n, int (*restrict a)[n], int (*restrict b)[n], int *restrict c)
{
#pragma acc parallel copyin(a[0:n]) copy(b[0:n], c[0:n])
    {
#pragma acc loop gang vector
        for (int i = 0; i < n; i++)
            c[i] = 2 * c[i] + 1;
#pragma acc loop gang
        for (int i = 2; i < n - 2; i++)
#pragma acc loop vector
            for (int j = 2; j < n - 2; j++) {
                CACHE(a[i-2:5][j-2:5])
                int t = 0;
                for (int y = -2; y <= 2; y++)
                    for (int x = -2; x <= 2; x++)
                        t += a[i + y][j + x];
                b[i][j] = t;
            }
    }
}

void kernels_region(int n, const float *restrict a, float *restrict b, float *restrict c)
{
#pragma acc kernels copyin(a[0:n]) copy(b[0:n], c[0:n])
    {
        for (int i = R; i < n - R; i++) {
            CACHE(a[i-R:2*R+1])
            float t = 0;
            for (int j = i - R; j <= i + R; j++)
                t += a[j];
            b[i] = t;
        }
        for (int i = R; i < n - R; i++) {
            CACHE(a[i-R:2*R+1])
            float t = 0;
            for (int j = i - R; j <= i + R; j++)
                t += 2 * a[j];
            c[i] = t + b[i];
        }
    }
}

/* Several sections of one array: far apart, next to each other, in two scopes. */
void far_apart(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = 100; i < n - 100; i++) {
        CACHE(a[i-100:20], a[i+80:20])
        float t = 0;
        for (int j = 0; j < 20; j++)
            t += a[i - 100 + j] * a[i + 80 + j];
        b[i] = t;
    }
}

void neighbours(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = 1; i < n - 1; i++) {
        CACHE(a[i-1:2])
        CACHE(a[i+1:1])
        b[i] = a[i - 1] + 2 * a[i] + 3 * a[i + 1];
    }
}

void scopes(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-2:5])
        float sum = a[i];
        for (int t = 0; t < n; t += 50) {
            CACHE(a[t:50])
            for (int j = t; j < MIN(t + 50, n); j++)
                sum += a[j] * a[i - 2 + j % 5];
        }
        b[i] = sum;
    }
}

/* Written and named twice: one tile, since copies would differ. */
void written_twice(int n, float *restrict a)
{
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1], a[i:1])
        for (int s = 0; s < 3; s++)
            a[i] = a[i] * 2 + s;
    }
}

/* Code between the loops: what reads only may be repeated, what writes may not. */
void scaled(int m, int n, float (*restrict a)[n], const float *restrict s, float (*restrict b)[n])
{
#pragma acc parallel loop copyin(a[0:m], s[0:m]) copy(b[0:m])
    for (int i = 3; i < m - 3; i++) {
        float scale = s[i] * 2;
#pragma acc loop
        for (int j = 3; j < n - 3; j++) {
            CACHE(a[i-3:7][j-3:7])
            float sum = 0;
            for (int y = -3; y <= 3; y++)
                for (int x = -3; x <= 3; x++)
                    sum += a[i + y][j + x];
            b[i][j] = sum * scale;
        }
    }
}

void between(int m, int n, float (*restrict a)[n], float *restrict s, float (*restrict b)[n])
{
#pragma acc parallel loop gang copyin(a[0:m]) copy(b[0:m], s[0:m])
    for (int i = 3; i < m - 3; i++) {
        s[i] = s[i] + i;
#pragma acc loop vector
        for (int j = 3; j < n - 3; j++) {
            CACHE(a[i-3:7][j-3:7])
            float sum = 0;
            for (int y = -3; y <= 3; y++)
                for (int x = -3; x <= 3; x++)
                    sum += a[i + y][j + x];
            b[i][j] = sum;
        }
        s[i] = s[i] * 2;
    }
}

/* The inner loop's bounds depend on the outer loop. */
void triangle(int n, const float *restrict a, float (*restrict b)[n])
{
#pragma acc parallel loop gang copyin(a[0:n]) copy(b[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = R; j < i - R; j++) {
            CACHE(a[j-R:2*R+1])
            float t = 0;
            for (int k = j - R; k <= j + R; k++)
                t += a[k];
            b[i][j] = t + i;
        }
}

void cube(int n, int (*restrict a)[n][n], int (*restrict b)[n][n])
{
#pragma acc parallel loop collapse(3) copyin(a[0:n]) copy(b[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                CACHE(a[i-1:3][j-1:3][k-1:3])
                int sum = 0;
                for (int z = -1; z <= 1; z++)
                    for (int y = -1; y <= 1; y++)
                        for (int x = -1; x <= 1; x++)
                            sum += a[i + z][j + y][k + x];
                b[i][j][k] = sum;
            }
}

#define M 34
void four(int n, int (*restrict a)[n][M][M], int (*restrict b)[n][M][M])
{
#pragma acc parallel loop collapse(4) copyin(a[0:n]) copy(b[0:n])
    for (int h = 0; h < n; h++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < M - 1; j++)
                for (int k = 1; k < M - 1; k++) {
                    CACHE(a[h:1][i-1:3][j-1:3][k-1:3])
                    int sum = 0;
                    for (int z = -1; z <= 1; z++)
                        for (int y = -1; y <= 1; y++)
                            for (int x = -1; x <= 1; x++)
                                sum += a[h][i + z][j + y][k + x];
                    b[h][i][j][k] = sum;
                }
}

/* A gang's threads write the section that they share. */
void gang_writes(int m, int (*restrict a)[64])
{
#pragma acc parallel loop gang copy(a[0:m])
    for (int i = 0; i < m; i++) {
        CACHE(a[i:1][0:64])
        for (int s = 0; s < 3; s++) {
#pragma acc loop vector
            for (int j = 0; j < 32; j++)
                a[i][j] = a[i][63 - j] * 2 + s;
#pragma acc loop vector
            for (int j = 32; j < 64; j++)
                a[i][j] = a[i][63 - j] + 1;
        }
    }
}

/* Outside of the section, too. */
void gang_writes_around(int m, int n, int *restrict a)
{
#pragma acc parallel loop gang copy(a[0:m*n])
    for (int i = 0; i < m; i++) {
        CACHE(a[i*n:20])
        for (int s = 0; s < 2; s++) {
#pragma acc loop vector
            for (int j = 0; j < n; j++)
                a[i * n + j] = a[i * n + j] * 2 + s;
        }
    }
}

#pragma acc routine vector
static void row(int n, const int *restrict r, int *restrict o)
{
    CACHE(r[0:64])
#pragma acc loop vector
    for (int j = 0; j < n; j++) {
        int t = 0;
        for (int k = 0; k < 64; k++)
            t += r[k] * (j + k);
        o[j] = t;
    }
}

void routines(int m, int (*restrict a)[64], int (*restrict b)[64])
{
#pragma acc parallel loop gang copyin(a[0:m]) copy(b[0:m])
    for (int i = 0; i < m; i++)
        row(64, a[i], b[i]);
}

#pragma acc routine seq
static int window(int i, const int *restrict r)
{
    int t = 0;
    CACHE(r[i-R:2*R+1])
    for (int j = i - R; j <= i + R; j++)
        t += r[j];
    return t;
}

void seq_routine(int n, const int *restrict a, int *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++)
        b[i] = window(i, a);
}

/* A routine that returns from its middle stays a call. */
#pragma acc routine seq
static int early(int i, const int *restrict r)
{
    CACHE(r[i-R:2*R+1])
    if (i % 7 == 0)
        return r[i - R];
    int t = 0;
    for (int j = i - R; j <= i + R; j++)
        t += r[j];
    return t;
}

void early_routine(int n, const int *restrict a, int *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++)
        b[i] = early(i, a);
}

/* Gangs take several blocks each. */
void few_gangs(int n, const int *restrict a, int *restrict b)
{
#pragma acc parallel loop num_gangs(2) vector_length(32) copyin(a[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-R:2*R+1])
        int t = 0;
        for (int j = i - R; j <= i + R; j++)
            t += a[j];
        b[i] = t;
    }
}

/* Indices of narrow types: zero-extended, and cut off. */
void narrow(int n, const int *restrict a, const unsigned char *restrict at, int *restrict b)
{
#pragma acc parallel loop copyin(a[0:n], at[0:n]) copy(b[0:n])
    for (int i = R; i < n - R; i++) {
        CACHE(a[0:256])
        int t = 0;
        for (int j = 0; j < 40; j++)
            t += a[at[i]] + a[(unsigned char)(i + 8 * j)] + a[i % 100 + 5 * (i == 100)];
        b[i] = t;
    }
}

/* A tile of 101 KiB, which the launch asks for. */
void large(int n, const double *restrict a, double *restrict b)
{
#pragma acc parallel loop copyin(a[0:n+12700]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:12700])
        double t = 0;
        for (int j = i; j < i + 12700; j += 100)
            t += a[j];
        b[i] = t;
    }
}

/* Both parallel loops name the reduction. */
void nested_total(int n, int (*restrict a)[n], int *restrict out)
{
    int s = 7;
#pragma acc parallel loop reduction(+:s) copyin(a[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop reduction(+:s)
        for (int j = R; j < n - R; j++) {
            CACHE(a[i:1][j-R:2*R+1])
            int t = 0;
            for (int k = j - R; k <= j + R; k++)
                t += a[i][k];
            s += t % 7;
        }
    }
    out[0] = s;
}

/* Written, and named by sections that overlap, lie apart, and come in two directives: a tile around them. */
void written_parts(int n, int *restrict w, int *restrict r)
{
#pragma acc parallel loop copy(w[0:n]) copy(r[0:n])
    for (int i = 0; i < n - 6; i += 6) {
        CACHE(w[i+2:2], w[i:1])
        CACHE(w[i+3:3])
        int t = 0;
        for (int k = 0; k < 20; k++) {
            w[i] += k;
            w[i + 3] += w[i] % 3;
            w[i + 2] = w[i + 3] - w[i + 5];
            t += w[i + 2];
        }
        r[i] = t;
    }
}

/* Rows at a distance known only at run time. */
void written_apart(int n, int d, int *restrict w)
{
#pragma acc parallel loop copy(w[0:2*n])
    for (int i = 0; i < n; i++) {
        CACHE(w[i:1], w[i+d:1])
        for (int k = 0; k < 5; k++)
            w[i] += w[i + d] - k;
    }
}

/* Reductions of arrays, whole and of a section, by one loop and by two. */
void histogram(int n, const int *restrict a, int *restrict out)
{
    int h[10] = {1, 2, 3}, most[2][3] = {{-5}};
    int *part = out + 16;
#pragma acc parallel loop copyin(a[0:n]) reduction(+:h, part[0:3]) reduction(max:most)
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-R:2*R+1])
        int t = 0;
        for (int k = i - R; k <= i + R; k++)
            t += a[k];
        h[t & 7] += t;
        part[t & 1] += i;
        if (most[t & 1][(t & 7) % 3] < t)
            most[t & 1][(t & 7) % 3] = t;
    }
    for (int i = 0; i < 10; i++)
        out[i] = h[i];
    for (int i = 0; i < 6; i++)
        out[10 + i] = most[i / 3][i % 3];
}

void row_sums(int m, int n, int (*restrict a)[n], int (*restrict out)[4])
{
#pragma acc parallel loop gang copyin(a[0:m]) copy(out[0:m])
    for (int i = 0; i < m; i++) {
        int r[4] = {0, 1, 2, 3};
#pragma acc loop vector reduction(+:r)
        for (int j = R; j < n - R; j++) {
            CACHE(a[i:1][j-R:2*R+1])
            for (int k = j - R; k <= j + R; k++)
                r[k & 3] += a[i][k];
        }
        for (int k = 0; k < 4; k++)
            out[i][k] = r[k];
    }
}

void plane_sums(int n, int (*restrict a)[n], int *restrict out)
{
    int s[5] = {0};
#pragma acc parallel loop collapse(2) copyin(a[0:n]) reduction(+:s)
    for (int i = 3; i < n - 3; i++)
        for (int j = 3; j < n - 3; j++) {
            CACHE(a[i-3:7][j-3:7])
            for (int y = -3; y <= 3; y++)
                for (int x = -3; x <= 3; x++)
                    s[(x + y + 6) % 5] += a[i + y][j + x];
        }
    for (int k = 0; k < 5; k++)
        out[k] = s[k];
}

/* Too much for each of many threads to have a copy. */
void long_histogram(int n, const int *restrict a, int *restrict out)
{
    int h[500] = {0};
#pragma acc parallel loop copyin(a[0:n]) reduction(+:h)
    for (int i = R; i < n - R; i++) {
        CACHE(a[i-R:2*R+1])
        int t = 0;
        for (int k = i - R; k <= i + R; k++)
            t += a[k];
        h[t & 255] += t;
    }
    for (int i = 0; i < 500; i++)
        out[i] = h[i];
}

/* The scope ends before the iteration does: what it wrote is read behind it, and written before another one. */
#pragma acc routine seq
static void add_up(int i, int *restrict r)
{
    CACHE(r[i:1])
    for (int k = 0; k < 5; k++)
        r[i] += k;
}

void behind_scopes(int n, int *restrict w, int *restrict v, int *restrict out)
{
#pragma acc parallel loop copy(w[0:n], v[0:n]) copyout(out[0:n])
    for (int i = 0; i < n; i += 2) {
        add_up(i, w);
        w[i + 1] = w[i];
        {
            CACHE(v[i:2])
            for (int k = 0; k < 5; k++) {
                v[i] += k;
                v[i + 1] -= v[i];
            }
        }
        out[i] = v[i] + w[i];
        v[i + 1] += 3;
        {
            CACHE(v[i:2])
            for (int k = 0; k < 5; k++)
                v[i + 1] += v[i] % (k + 2);
        }
        out[i + 1] = v[i + 1];
    }
}

void before_scopes(int n, int *restrict w, int *restrict out)
{
#pragma acc parallel loop copy(w[0:n]) copyout(out[0:n])
    for (int i = 0; i < n; i += 2) {
        w[i] = 2 * i;
        w[i + 1] -= i;
        CACHE(w[i:2])
        int t = 0;
        for (int k = 0; k < 5; k++)
            t += w[i] * k + w[i + 1];
        out[i] = t;
        out[i + 1] = 0;
    }
}
