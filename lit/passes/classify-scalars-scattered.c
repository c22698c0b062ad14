// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s
// RUN: accopt %s -o /dev/null --emit=data -Wno-scattered-updates 2>&1 | filecheck %s --check-prefix=OFF --allow-empty

// OFF-NOT: warning

// Updates of elements that iterations choose by values, which several of them may choose.
struct grid { int n, m; };
struct cell { int count; double mass[3]; };

void told(int n, int m, int *restrict kind, int *restrict h, int *restrict first, double u[n][m], double x[n],
          struct cell *restrict cells, double **rows)
{
    int i, j, k;
    // CHECK: scattered.c:[[# @LINE + 3]]:13: warning: iterations of this loop may update one element of 'h' at the same time, which loses updates: its subscript is read from memory [-Wscattered-updates]
    // CHECK: help: write '#pragma acc atomic update' before the update, or 'loop seq'
    // CHECK: scattered.c:[[# @LINE + 3]]:{{.*}}note: it is updated here
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        h[kind[i]] += 1;
    // CHECK: element of 'h' {{.*}} its subscript is a remainder
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        h[i % 4]++;
    // CHECK: element of 'h' {{.*}} its subscript is a remainder
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        h[kind[i] & 7]++;
    // CHECK: element of 'h' {{.*}} its subscript is a quotient
#pragma acc parallel loop independent
    for (i = 0; i < n; i++)
        h[i / 16] = h[i / 16] + kind[i];
    // A scalar in between, one number of several.
    // CHECK: element of 'h' {{.*}} its subscript is converted from a floating-point number
#pragma acc kernels loop independent
    for (i = 0; i < n; i++) {
        k = (int)(x[i] * 10);
        if (k < 0)
            k = 0;
        h[k]++;
    }
    // CHECK: element of 'h' {{.*}} its subscript is read from memory
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        k = kind[i];
        if (k > 9)
            k = 9;
        int *p = &h[k];
        *p += 1;
    }
    // One of the loop's variables is in a subscript, the other is not.
    // CHECK: element of 'u' {{.*}} its subscript is read from memory
#pragma acc parallel loop collapse(2)
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            u[i][kind[j]] += 1;
    // CHECK: scattered.c:[[# @LINE + 3]]:{{.*}} element of 'u' {{.*}} its subscript is read from memory
#pragma acc parallel loop gang
    for (i = 0; i < n; i++)
#pragma acc loop vector
        for (j = 0; j < m; j++)
            u[i][kind[j]] += 1;
    // Sums of rows, each of which a loop in order adds up.
    // CHECK: element of 'u' {{.*}} its subscript is read from memory
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            u[kind[i]][j] += x[i];
    // CHECK: element of 'h' {{.*}} its subscript is read from memory
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        for (j = first[i]; j < first[i + 1]; j++)
            h[kind[j]] -= 1;
    // CHECK: element of 'cells' {{.*}} its subscript is read from memory
    // CHECK-NOT: 'cells'
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        cells[kind[i]].count++;
        cells[kind[i]].mass[2] += x[i];
    }
    // CHECK: element of 'rows_k' {{.*}} its subscript is read from memory
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        k = kind[i];
        rows[k][0] += x[i];
    }
    // The least of several, where whether it is stored comes from the element.
    // CHECK: element of 'h' {{.*}} its subscript is read from memory
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        if (i < h[kind[i]])
            h[kind[i]] = i;
}

// CHECK: element of 'y' {{.*}} its subscript is read from memory
void scattered_rows(int n, const int *restrict rows, const int *restrict begin, const double *restrict v,
                    double *restrict y)
{
#pragma acc parallel loop
    for (int p = 0; p < n; p++) {
        double s = 1;
        for (int k = begin[p]; k < begin[p + 1]; k++)
            s -= v[k];
        y[rows[p]] += s;
    }
}

// CHECK-NOT: warning
void quiet(int n, int m, int bins, int *restrict kind, int *restrict h, int *restrict first,
           int *restrict length, double u[n][m], double **rows, struct grid *g)
{
    int i, j, k;
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        h[kind[i]] = i; // no update
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            h[i * bins + kind[j]] += 1; // bins of its own
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        for (j = 0; j < length[i]; j++)
            h[first[i] + j] *= 2; // a row that begins somewhere
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        for (j = first[i]; j < first[i + 1]; j++)
            h[j] *= 2;
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        k = first[i];
        for (j = 0; j < length[i]; j++) {
            h[k] += 1;
            k++;
        }
    }
#pragma acc parallel loop
    for (i = 0; i < n * m; i++)
        u[i / m][i % m] += 1;
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        h[(i + 3) % n] += 1; // once round
#pragma acc parallel loop
    for (i = 0; i < 64; i++)
        h[(i + 3) & 63] += 1;
#pragma acc parallel loop
    for (i = 0; i < 64; i++)
        for (j = i & 1; j < 64; j += 2)
            h[(i + 64) % 64 * 64 + (j + 64) % 64] += 1;
#pragma acc parallel loop collapse(2)
    for (i = 0; i < g->n; i++)
        for (j = 0; j < g->m; j++)
            h[(i + 1) % g->n * g->m + (j + 1) % g->m] += 1;
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        k = i + 1;
        if (k == n)
            k = 0;
        h[k] += 1;
    }
#pragma acc parallel loop
    for (i = 0; i < n; i++)
        if (i == bins)
            h[kind[i]] += 1; // one iteration
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
#pragma acc atomic
        h[kind[i]] += 1;
    }
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        int own[8] = {0};
        for (j = 0; j < m; j++)
            own[kind[j] & 7]++;
        h[i] = own[3];
    }
#pragma acc parallel loop reduction(+:h[0:bins])
    for (i = 0; i < n; i++)
        h[kind[i]]++;
#pragma acc parallel loop
    for (i = 0; i < n; i++) {
        double *row = rows[i];
        for (j = 0; j < m; j++)
            row[j] *= 2;
    }
#pragma acc kernels
    for (i = 0; i < n; i++)
        h[kind[i]]++; // found to be sequential
}

// A sweep whose new values depend on other elements of the array: its iterations are apart by their colours.
void coloured(int first, int last, const int *restrict rows, const int *restrict begin, const int *restrict column,
              const double *restrict v, double *restrict x)
{
#pragma acc parallel loop
    for (int p = first; p < last; p++) {
        int i = rows[p];
        double s = 1;
        for (int k = begin[i]; k < begin[i + 1]; k++)
            s -= v[k] * x[column[k]];
        x[i] += s / 4;
    }
}
