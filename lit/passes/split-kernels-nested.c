// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --stop-before infer-routines --sizes=as-written | filecheck %s --check-prefix=WRITTEN

// A plain loop that is all that a parallel one does, of independent iterations: one without a directive less.
// CHECK-LABEL: @plain
// CHECK:           acc.loop combined(parallel) control(%i : i32)
// CHECK:             acc.loop control(%j : i32)
// CHECK:               scf.for %k
// CHECK:             } attributes {accx.why = "found independent: {{.*}}", {{.*}}independent
// WRITTEN-LABEL: @plain
// WRITTEN:           acc.loop combined(parallel) control(%i : i32)
// WRITTEN:             scf.for %j
void plain(int n, const double *restrict a, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++) {
        double first = a[i];
        for (int j = 0; j < n; j++) {
            double sum = first;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * a[k * n + j];
            c[i * n + j] = sum;
        }
    }
}

// So is a triangle of loops that have another one in them.
// CHECK-LABEL: @triangle
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32)
// CHECK:             acc.loop control(%j{{.*}} : i32)
// CHECK:               scf.for %k
// CHECK:             } attributes {accx.why = "found independent: {{.*}}", {{.*}}independent
// CHECK:           llvm.return
void triangle(int n, const double *restrict a, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * a[j * n + k];
            c[i * n + j] = sum;
        }
}

// A band has as few iterations in every row.
// CHECK-LABEL: @band
// CHECK-NOT:       accx.why = "found independent
// CHECK:           llvm.return
void band(int n, const double *restrict a, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*n], c[0:n*n])
    for (int i = 1; i < n; i++)
        for (int j = i - 1; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * a[j * n + k];
            c[i * n + j] = sum;
        }
}

// Left alone: sums of doubles, few iterations, a number of them that each row computes, iterations that depend
// on one another.
// CHECK-LABEL: @others
// CHECK-NOT:       accx.why = "found independent
// CHECK:           llvm.return
void others(int n, double *restrict a, double *restrict s)
{
#pragma acc parallel loop present(a[0:n*n], s[0:n])
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[i * n + j];
        s[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            a[i * 3 + j] = 0;
#pragma acc parallel loop present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i * i; j++)
            a[i * n + j] = 0;
#pragma acc parallel loop present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i * n + j] += a[i * n + j - 1];
}

// Levels, sizes and tiles are advice: the same as without.
// CHECK-LABEL: @advice
// CHECK-COUNT-3: accx.why = "found independent
// CHECK:           llvm.return
// WRITTEN-LABEL: @advice
// WRITTEN-NOT:     accx.why = "found independent
// WRITTEN:         llvm.return
void advice(int n, double *restrict a)
{
#pragma acc parallel loop gang worker num_workers(4) vector_length(128) present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += 1;
#pragma acc parallel loop gang vector present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[j * n + i] += 1;
#pragma acc parallel loop tile(32) present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += 1;
}

// What the directive's loop reduces, its inner loops may reduce, too, in any order.
// CHECK-LABEL: @reduced
// CHECK:           acc.loop combined(parallel) reduction(
// CHECK:             acc.loop reduction(
// CHECK:               acc.loop reduction(
// CHECK:               } attributes {accx.why = "found independent
// CHECK:           llvm.return
double reduced(int n, const double (*restrict a)[40][40])
{
    double sum = 0;
#pragma acc parallel loop reduction(+:sum) present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++)
            for (int k = 0; k < 40; k++)
                sum += a[i][j][k];
    return sum;
}

// Variables of an iteration are declared in it: they need no clause.
// CHECK-LABEL: @declared
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop control(%j
// CHECK-NEXT:          arith.constant
// CHECK-NEXT:          %parts{{.*}} = llvm.alloca
// CHECK:           llvm.return
void declared(int n, const double *restrict a, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = a[i * n + j], parts[4];
            for (int k = 0; k < 4; k++)
                parts[k] = x * k;
            while (x > 1)
                x /= 2;
            c[i * n + j] = x + parts[1] + parts[3];
        }
}

// One that an iteration leaves to the next one keeps them in order, and so does another operator than the clause's.
// CHECK-LABEL: @left
// CHECK-NOT:       accx.why = "found independent
// CHECK:           llvm.return
void left(int n, const double *restrict a, double *restrict c, double *restrict total)
{
    double sum = 0;
#pragma acc parallel loop present(a[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++) {
        double before = 0;
        for (int j = 0; j < n; j++) {
            c[i * n + j] = before;
            before = a[i * n + j];
        }
    }
#pragma acc parallel loop reduction(+:sum) present(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum *= a[i * n + j];
    *total = sum;
}

// Of a few directions, with an array each, a thread takes all; neighbouring elements of structures are for lanes.
// CHECK-LABEL: @directions
// CHECK-COUNT-2:   acc.loop
// CHECK-NOT:       acc.loop
// CHECK-COUNT-2:   accx.why = "it has few iterations, and the loop around it suits lanes better"
// CHECK-LABEL: @structures
// CHECK-COUNT-3:   acc.loop
// CHECK:           llvm.return
void directions(int nx, int ny, const float *restrict f, float *restrict g)
{
#pragma acc kernels present(f[0:19*nx*ny], g[0:19*nx*ny])
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            float rho = 0;
            for (int q = 0; q < 19; q++)
                rho += f[q * nx * ny + y * nx + x];
            for (int q = 0; q < 19; q++)
                g[q * nx * ny + y * nx + x] = rho;
        }
}
void structures(int nx, int ny, const float (*restrict f)[19], float (*restrict g)[19])
{
#pragma acc kernels present(f[0:nx*ny], g[0:nx*ny])
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            float rho = 0;
            for (int q = 0; q < 19; q++)
                rho += f[y * nx + x][q];
            for (int q = 0; q < 19; q++)
                g[y * nx + x][q] = rho;
        }
}

// The bound of a triangle is widened without sign: it is the counter itself where the length is not negative, and
// where no subscript wraps around the rows are apart.
// CHECK-LABEL: @unsigned_triangle
// CHECK:           acc.loop control(%i{{.*}} : i64)
// CHECK:             acc.loop control(%j{{.*}} : i64)
// CHECK:           accx.conditional
void unsigned_triangle(unsigned n, const float *restrict a, float *restrict c)
{
#pragma acc kernels present(a[0:n*n], c[0:n*n])
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j <= i; j++)
            c[i * n + j] = a[i * n + j] * 2;
}

// Each thread has its own copy of an array that is reduced: lanes do not share a loop over its elements.
// CHECK-LABEL: @reduced_elements
// CHECK-NOT:       accx.why = "found independent
// CHECK:           llvm.return
void reduced_elements(int n, const double *restrict a, double sums[16])
{
#pragma acc parallel loop reduction(+:sums[0:16]) present(a[0:n*16])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 16; j++)
            sums[j] += a[i * 16 + j];
}
