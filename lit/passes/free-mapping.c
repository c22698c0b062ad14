// RUN: accopt %s --stop-before hoist-loop-bounds | filecheck %s
// RUN: accopt %s --sizes=as-written --stop-before hoist-loop-bounds | filecheck %s --check-prefix KEPT
// RUN: accopt %s --pass-option "schedule-loops{sizes=as-written}" --stop-before hoist-loop-bounds | filecheck %s --check-prefix KEPT
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix SAYS

// Nothing can tell who runs an iteration: no sizes, levels or tiles are left; seq is.
// CHECK-LABEL: llvm.func @advice
// CHECK:         acc.parallel combined(loop) dataOperands(%{{.*}}) {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop control(%s
// CHECK:               acc.loop control(%j
// CHECK:             } attributes {{{.*}}seq = [#acc.device_type<none>]
// KEPT-LABEL:  llvm.func @advice
// KEPT:          acc.parallel {{.*}}num_gangs({%{{.*}} : i32}) num_workers(%{{.*}} : i32) vector_length(%{{.*}} : i32)
// KEPT:            acc.loop {{.*}}gang worker control(%i
// KEPT:                acc.loop vector control(%j
// SAYS: remark: num_gangs(g), num_workers(8), vector_length(32), gang, worker, vector: treated as advice
void advice(int n, int g, float (*restrict a)[n])
{
#pragma acc parallel loop gang worker num_gangs(g) num_workers(8) vector_length(32) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop seq
        for (int s = 0; s < 3; s++)
#pragma acc loop vector
            for (int j = 0; j < n; j++)
                a[i][j] += 1.0f;
}

// CHECK-LABEL: llvm.func @tiles
// CHECK:         acc.loop combined(parallel) control(%{{[a-z0-9_]+}} : i32, %{{[a-z0-9_]+}} : i32)
// KEPT-LABEL:  llvm.func @tiles
// KEPT:          acc.loop combined(parallel) {{.*}}tile(
// SAYS: remark: tile: treated as advice
void tiles(int n, float (*restrict a)[n])
{
#pragma acc parallel loop tile(8, *) present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += 1.0f;
}

// One gang may be what keeps others out.
// SAYS: remark: mapped as written (num_gangs(1), gang, vector): the program requests one gang
// CHECK-LABEL: llvm.func @one
// CHECK:         acc.loop {{.*}}gang vector
void one(int n, float *restrict a)
{
#pragma acc parallel loop gang vector num_gangs(1) present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1.0f;
}

// SAYS: remark: mapped as written (num_gangs(g), gang): every gang runs code outside of gang loops
void redundant(int n, int g, int *restrict count, float *restrict a)
{
#pragma acc parallel num_gangs(g) present(a[0:n], count[0:1])
    {
#pragma acc atomic update
        count[0]++;
#pragma acc loop gang
        for (int i = 0; i < n; i++)
            a[i] += 1.0f;
    }
}

// Each gang runs a loop that only its lanes share.
// SAYS: remark: mapped as written (num_gangs(4), vector): every gang runs code outside of gang loops
void lanes(int n, float *restrict a)
{
#pragma acc parallel num_gangs(4) present(a[0:n])
#pragma acc loop vector
    for (int i = 0; i < n; i++)
        a[i] = 1.0f;
}

// Without a number of gangs, one gang has to do for a loop that its lanes share, and many that share it do the same.
// SAYS: remark: vector_length(128), vector: treated as advice
// CHECK-LABEL: llvm.func @lanes_alone
// CHECK:         acc.loop combined(parallel) control(%i
void lanes_alone(int n, float *restrict a)
{
#pragma acc parallel loop vector vector_length(128) present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = 1.0f;
}

// SAYS: remark: worker, vector: treated as advice
void workers_and_lanes(int n, float (*restrict a)[n])
{
#pragma acc parallel loop worker present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            a[i][j] = 1.0f;
}

// SAYS: remark: vector: treated as advice
float sum_of_lanes(int n, const float *restrict a)
{
    float sum = 0.0f;
#pragma acc parallel loop vector reduction(+:sum) present(a[0:n])
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

// One gang runs one loop after the other: gangs that shared them would not wait.
// SAYS: remark: mapped as written (vector): every gang runs code outside of gang loops
void lanes_in_turn(int n, float *restrict a)
{
#pragma acc parallel present(a[0:n])
    {
#pragma acc loop vector
        for (int i = 0; i < n; i++)
            a[i] = 1.0f;
#pragma acc loop vector
        for (int i = 0; i < n; i++)
            a[i] = 2.0f * a[n - 1 - i];
    }
}

// SAYS: remark: mapped as written (vector): every gang runs code outside of gang loops
void lanes_step_by_step(int n, float (*restrict a)[n])
{
#pragma acc parallel present(a[0:n])
    for (int i = 1; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            a[i][j] = a[i - 1][n - 1 - j];
}

// SAYS: remark: mapped as written (num_gangs(g), gang): the number of gangs of several loops may be one
void several(int n, int g, float *restrict a)
{
#pragma acc parallel num_gangs(g) present(a[0:n])
    {
#pragma acc loop gang
        for (int i = 0; i < n; i++)
            a[i] = 1.0f;
#pragma acc loop gang
        for (int i = 0; i < n; i++)
            a[i] *= 2.0f;
    }
}

// An array of an outer iteration is shared by the lanes that run the loops inside, whoever they are; a
// directive that caches it changes nothing.
// SAYS: remark: gang, vector: treated as advice
void shared_array(int n, float (*restrict a)[n])
{
    float row[64];
#pragma acc parallel loop gang private(row) present(a[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc cache(row[0:64])
#pragma acc loop vector
        for (int j = 0; j < 64; j++)
            row[j] = a[i][j];
#pragma acc loop vector
        for (int j = 0; j < 64; j++)
            a[i][j] = row[63 - j];
    }
}

// An array of a gang keeps its values from one of its iterations to the next.
// SAYS: remark: mapped as written (gang, vector): gangs have variables of their own
void array_of_gang(int n, float (*restrict a)[n])
{
    float row[64];
#pragma acc parallel private(row) present(a[0:n])
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 0; j < 64; j++)
            row[j] = a[i][j];
#pragma acc loop vector
        for (int j = 0; j < 64; j++)
            a[i][j] = row[63 - j];
    }
}

// An array of an innermost iteration belongs to nobody else.
// SAYS: remark: gang, vector: treated as advice
void own_array(int n, float (*restrict a)[n])
{
#pragma acc parallel loop gang present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            float weights[3];
            for (int k = 0; k < 3; k++)
                weights[k] = a[i][j] + k;
            a[i][j] = weights[j % 3];
        }
}

// The same with loops inside that run in order.
// SAYS: remark: vector_length(64), gang, vector: treated as advice
void own_array_in_order(int n, float (*restrict a)[n])
{
#pragma acc parallel loop gang vector vector_length(64) present(a[0:n])
    for (int i = 0; i < n; i++) {
        float row[4];
#pragma acc loop seq
        for (int k = 0; k < 4; k++)
            row[k] = a[i][k];
#pragma acc loop seq
        for (int k = 0; k < 4; k++)
            a[i][k] = row[3 - k];
    }
}

// SAYS: remark: mapped as written (gang): a loop says which gang runs which chunk
void chunks(int n, float *restrict a)
{
#pragma acc parallel loop gang(static:4) present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = 1.0f;
}

// SAYS: remark: mapped as written (gang): gangs cache sections
void cached(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop gang present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++) {
#pragma acc cache(a[i-1:3])
        b[i] = a[i - 1] + a[i + 1];
    }
}

#pragma acc routine vector
void lane_work(int n, float *a);

// SAYS: remark: mapped as written (gang, worker): a routine that it calls has gang, worker or vector level
void routine(int n, float (*restrict a)[n])
{
#pragma acc parallel loop gang worker present(a[0:n])
    for (int i = 0; i < n; i++)
        lane_work(n, a[i]);
}

// What a single iteration of two loops caches, a block of whichever iterations keeps.
// CHECK-LABEL: llvm.func @cached_product
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK-NOT:     vector
// CHECK:         acc.cache
// SAYS: remark: vector_length(128), gang, vector: treated as advice
void cached_product(int n, const float (*restrict a)[n], const float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop gang vector_length(128) present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k += 16) {
#pragma acc cache(a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

// Sizes that no program has written, of a kernel that has no parallel loop.
// SAYS-NOT: mapped as written
// SAYS: remark: one thread runs this: it has no loop that is known to be parallel
void until_negative(int n, int *restrict a)
{
#pragma acc kernels copy(a[0:n])
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            break;
        a[i] += 1;
    }
}

// Every third element is not contiguous.
// SAYS: tightly nested loops, schedule 2_2: accesses with strides on lanes
void thirds(int n, int m, float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) copy(a[0:n*m*3]) copyin(b[0:n*m*3])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[(i * m + j) * 3] += b[(i * m + j) * 3];
}
