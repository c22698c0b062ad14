// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// Elements at which iterations of a loop certainly meet, though inner loops or own stores stand between.
#define N 64
double a[N][N], b[N][N], flat[N * N], w[N], x[N];
struct { double t; int kept[4]; } s;
int place[N], size;

void certain(int n, double *r)
{
    // CHECK: :14:{{.*}}warning: iterations of this loop depend on each other through elements of 'a', so it runs sequentially
    // CHECK: note: it is read here
    // CHECK: note: it is assigned here
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++)
            sum += a[i][j];
        for (int j = i + 1; j <= n - 1; j++)
            a[j][i] = sum;
    }
    // CHECK: warning: iterations of this loop depend on each other through elements of 'flat', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < size; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++)
            sum += flat[i * size + j];
        for (int j = i + 1; j < size; j++)
            flat[j * size + i] = sum;
    }
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        // CHECK: :35:{{.*}}warning: iterations of this loop assign and read back the same elements of 'w', so it runs sequentially
        // CHECK: help: write 'loop seq', or use a variable that is declared in the loop or private
#pragma acc loop
        for (int j = 0; j < n; j++) {
            w[i] = a[i][j];
            b[i][j] = w[i] + 1;
        }
    // CHECK: warning: iterations of this loop assign and read back the same elements of 'w'{{$}}
#pragma acc parallel loop num_gangs(8)
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            w[k] = a[i][k];
        for (int k = 0; k < n; k++)
            b[i][k] = w[n - 1 - k];
    }
    // CHECK: warning: iterations of this loop assign and read back the same elements of 's'
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        s.t = x[i];
        w[i] = s.t;
    }
    // CHECK: warning: iterations of this loop assign and read back the same elements of 'r'
#pragma acc parallel loop copy(r[0:1])
    for (int i = 0; i < n; i++) {
        *r = x[i];
        w[i] = *r;
    }
    // CHECK: warning: iterations of this loop all assign the same elements of 'w', so it runs sequentially
    // CHECK-NOT: read here
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[j] = a[i][j];
}

// CHECK-NOT: warning
void uncertain(int n, double *r)
{
    // Alike in all iterations.
#pragma acc parallel loop copy(r[0:1])
    for (int i = 0; i < n; i++) {
        *r = 3;
        for (int k = 0; k < n; k++)
            w[k] = x[k] * 2;
        b[i][0] = w[1] + *r;
    }
    // Rows and triangles of their own.
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            a[i][j] = b[i][j];
        for (int j = 0; j < i; j++)
            x[i] += a[i][j];
    }
#pragma acc parallel loop
    for (int i = 0; i < n; i += 2) {
        x[i] = i;
        x[i + 1] = x[i];
    }
    // Perhaps.
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        w[place[i]] = x[i];
        b[i][0] = w[place[i]];
    }
    // Copies of their own.
#pragma acc parallel loop private(w, s)
    for (int i = 0; i < n; i++) {
        w[0] = x[i];
        s.t = w[0];
        b[i][0] = s.t;
    }
#pragma acc parallel private(w) num_gangs(10)
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            w[k] = a[i][k];
        b[i][0] = w[1] + w[0];
    }
}
