// RUN: accopt %s --stop-before split-column-sums | filecheck %s

// The place of the greatest element of a row: the element is carried, and loaded first if the loop runs.
// CHECK-LABEL: @place
// CHECK:         %runs = arith.cmpi slt
// CHECK:         scf.if %runs -> (f32)
// CHECK:           llvm.load {{.*}} {accx.speculative}
// CHECK:         scf.for %j{{.*}} iter_args(%b_1 = {{.*}}, %[[BEST:.*]] = {{.*}}) -> (i32, f32)
// CHECK:           %[[X:.*]] = llvm.load
// CHECK-NOT:       llvm.load
// CHECK:           scf.if {{.*}} -> (i32, f32) {
// CHECK-NEXT:        scf.yield %j, %[[X]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %b_1, %[[BEST]]
void place(int n, int m, const float *x, int *out)
{
#pragma acc parallel loop present(x[0:n*m], out[0:n])
    for (int i = 0; i < n; i++) {
        int b = 0;
        for (int j = 1; j < m; j++)
            if (x[i * m + j] > x[i * m + b])
                b = j;
        out[i] = b;
    }
}

// A selection sort in an array of the iteration's own: the element after the search is carried, too. Another
// type, a choice by a condition, a function of the element.
// CHECK-LABEL: @sorted
// CHECK:         scf.for %i
// CHECK:           llvm.load {{.*}} {accx.speculative}
// CHECK:           %m{{.*}}, %[[LEAST:.*]] = scf.for %j
// CHECK:           llvm.store %[[LEAST]], %v
// CHECK-LABEL: @pivot
// CHECK:         scf.for {{.*}} -> (i32, f64)
void sorted(int n, const unsigned char *restrict x, unsigned char *restrict out)
{
#pragma acc parallel loop present(x[0:9*n], out[0:n])
    for (int p = 0; p < n; p++) {
        unsigned char v[9];
        for (int i = 0; i < 9; i++)
            v[i] = x[p * 9 + i];
        for (int i = 0; i < 5; i++) {
            int m = i;
            for (int j = i + 1; j < 9; j++)
                if (v[j] < v[m])
                    m = j;
            unsigned char t = v[i];
            v[i] = v[m];
            v[m] = t;
        }
        out[p] = v[4];
    }
}
double fabs(double);
void pivot(int n, double (*a)[8][8], int *out)
{
#pragma acc parallel loop present(a[0:n], out[0:n])
    for (int p = 0; p < n; p++) {
        int best = 0;
        for (int j = 1; j < 8; j++)
            best = fabs(a[p][j][0]) > fabs(a[p][best][0]) ? j : best;
        out[p] = best;
    }
}

// Not where the loop stores to what may be the element, where the next place is one that it has not loaded, where
// the element is only loaded under a condition, and where another subscript changes.
// CHECK-LABEL: @declined
// CHECK-NOT:     -> (i32, f32)
// CHECK:         llvm.return
void declined(int n, int m, float *x, int *out)
{
#pragma acc parallel loop present(x[0:n*m], out[0:n])
    for (int i = 0; i < n; i++) {
        int b = 0;
        for (int j = 1; j < m; j++) {
            x[i * m + b] *= 2;
            if (x[i * m + j] > x[i * m + b])
                b = j;
        }
        out[i] = b;
    }
#pragma acc parallel loop present(x[0:n*m], out[0:n])
    for (int i = 0; i < n; i++) {
        int b = 0;
        for (int j = 1; j < m - 1; j++)
            if (x[i * m + j] > x[i * m + b])
                b = j + 1;
        out[i] = b;
    }
#pragma acc parallel loop present(x[0:n*m], out[0:n])
    for (int i = 0; i < n; i++) {
        int b = -1;
        for (int j = 0; j < m; j++)
            if (b < 0 || x[i * m + j] > x[i * m + b])
                b = j;
        out[i] = b;
    }
#pragma acc parallel loop present(x[0:n*m], out[0:n])
    for (int i = 0; i < n; i++) {
        int b = 0;
        for (int j = 1; j < m; j++)
            if (x[j * m + j] > x[j * m + b])
                b = j;
        out[i] = b;
    }
}
