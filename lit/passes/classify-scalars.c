// RUN: accopt %s -p legalize-serial,classify-scalars | filecheck %s

// A clause on the outer loop alone: the loops inside take part in the reduction.
// CHECK-LABEL: llvm.func @outer_clause
// CHECK:         %[[K:s[_0-9]*]] = acc.reduction varPtr(%s{{[_0-9]*}} : !llvm.ptr) varType(f64) recipe(@reduction_add_f64) -> !llvm.ptr {name = "s"}
// CHECK:         acc.loop combined(parallel) gang reduction(%[[K]] : !llvm.ptr)
// CHECK:           %[[J:s[_0-9]*]] = acc.reduction varPtr(%[[K]] : !llvm.ptr) {{.*}} {implicit = true, name = "s"}
// CHECK:           acc.loop worker reduction(%[[J]] : !llvm.ptr)
// CHECK:             %[[I:s[_0-9]*]] = acc.reduction varPtr(%[[J]] : !llvm.ptr) {{.*}} {implicit = true, name = "s"}
// CHECK:             acc.loop vector reduction(%[[I]] : !llvm.ptr)
// CHECK:               llvm.store %{{.*}}, %[[I]] : f64, !llvm.ptr
double outer_clause(int n, const double *a)
{
    double s = 0;
    int i, j, k;
#pragma acc parallel loop gang reduction(+:s) copyin(a[0:n])
    for (k = 0; k < n; k++) {
#pragma acc loop worker
        for (j = 0; j < n; j++) {
#pragma acc loop vector
            for (i = 0; i < n; i++)
                s = s + a[i];
        }
    }
    return s;
}

// A clause on the inner loop alone is one for the loops around it.
// CHECK-LABEL: llvm.func @inner_clause
// CHECK:         acc.reduction {{.*}} recipe(@reduction_max_f32) -> !llvm.ptr {implicit = true, name = "m"}
// CHECK-NEXT:    acc.loop combined(parallel) reduction(
// CHECK:           acc.reduction {{.*}} recipe(@reduction_max_f32) -> !llvm.ptr {name = "m"}
float inner_clause(int n, const float *a)
{
    float m = 0;
#pragma acc parallel loop copyin(a[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop reduction(max:m)
        for (int j = 0; j < n; j++)
            m = a[j] > m ? a[j] : m;
    }
    return m;
}

// What every iteration sets first is its own; so are the sums of loops inside, and nothing is copied.
// CHECK-LABEL: llvm.func @rows
// CHECK:         %[[D:d[_0-9]*]] = acc.private varPtr(%d : !llvm.ptr) {{.*}} {implicit = true, name = "d"}
// CHECK-NEXT:    acc.loop combined(parallel) private(%[[D]] : !llvm.ptr)
// CHECK:           llvm.store %{{.*}}, %[[D]]
// CHECK:           acc.reduction varPtr(%[[D]] : !llvm.ptr) {{.*}} {name = "d"}
// CHECK:           llvm.load %[[D]]
void rows(int n, const double *a, double *r)
{
    double d;
#pragma acc parallel loop copyin(a[0:n]) copyout(r[0:n])
    for (int j = 0; j < n; j++) {
        d = 0;
#pragma acc loop reduction(+:d)
        for (int k = 0; k < n; k++)
            d += a[k];
        r[j] = d;
    }
}

// A last value that a loop's iteration wants comes out of the loop as the reduction of its bits.
// CHECK-LABEL: llvm.func @last_of_a_row
// CHECK:         acc.loop combined(parallel) gang private(
// CHECK:           %[[L:t_last[_0-9]*]] = llvm.alloca
// CHECK:           llvm.store %{{.*}}, %[[L]] : i32
// CHECK:           %[[P:t_last[_0-9]*]] = acc.reduction varPtr(%[[L]] : !llvm.ptr) varType(i32) recipe(@reduction_ior_i32)
// CHECK:           acc.loop vector
// CHECK:             %[[E:.*]] = arith.cmpi eq, %j{{[_0-9]*}}, %last{{[_0-9]*}}
// CHECK-NEXT:        scf.if %[[E]] {
// CHECK:               arith.bitcast %{{.*}} : f32 to i32
// CHECK:               llvm.store %{{.*}}, %[[P]] : i32
// CHECK:           arith.bitcast %{{.*}} : i32 to f32
void last_of_a_row(int n, const float *a, float *b, float *c)
{
    float t;
#pragma acc parallel loop gang copyin(a[0:64]) copy(b[0:64], c[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 0; j < 64; j++) {
            t = a[j];
            b[j] = t;
        }
        c[i] = t;
    }
}

// A flag that some iterations set, in an iteration of a loop around: an or of the lanes.
// CHECK-LABEL: llvm.func @flag
// CHECK:         acc.reduction varPtr(%hit_set{{[_0-9]*}} : !llvm.ptr) varType(i32) recipe(@reduction_ior_i32)
// CHECK:         acc.loop vector
// CHECK:         llvm.load %hit_set{{[_0-9]*}} : !llvm.ptr -> i32
// CHECK:         scf.if
// CHECK:           llvm.store
void flag(int n, const float *a, int *c)
{
#pragma acc parallel loop gang copyin(a[0:64]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        int hit = 0;
#pragma acc loop vector
        for (int j = 0; j < 64; j++)
            if (a[j] > i)
                hit = 1;
        c[i] = hit;
    }
}

// A construct that sets the variable its loops reduce has its own.
// CHECK-LABEL: llvm.func @own
// CHECK:         %[[V:.*]] = acc.private varPtr(%v : !llvm.ptr) {{.*}} {implicit = true, name = "v"}
// CHECK-NEXT:    acc.parallel num_workers({{.*}}) private(%[[V]] : !llvm.ptr)
// CHECK:           acc.reduction varPtr(%[[V]] : !llvm.ptr)
void own(int n, const float *a, float *b)
{
    float v;
#pragma acc parallel num_workers(4)
    {
        v = 0;
#pragma acc loop vector reduction(+:v)
        for (int i = 0; i < n; i++)
            v += a[i];
        b[0] = v;
    }
}

// A serial construct's loop sums up for the host as well.
// CHECK-LABEL: llvm.func @serial
// CHECK:         acc.reduction varPtr(%s{{[_0-9]*}} : !llvm.ptr) {{.*}} {implicit = true, name = "s"}
// CHECK:         seq
int serial(int n, const int *a)
{
    int s = 0;
#pragma acc serial loop copyin(a[0:n])
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

// Global variables have one address in a construct.
// CHECK-LABEL: llvm.func @global
// CHECK:         %total{{[_0-9]*}} = llvm.mlir.addressof @total
// CHECK-NEXT:    acc.parallel
// CHECK-NOT:       llvm.mlir.addressof @total
// CHECK:           acc.reduction varPtr(%total{{[_0-9]*}} : !llvm.ptr)
long total;
void global(int n, const int *a)
{
#pragma acc parallel loop copyin(a[0:n])
    for (int i = 0; i < n; i++)
        total = a[i] + total;
}

// Nothing to say of volatile variables, atomic updates and what the program names.
// CHECK-LABEL: llvm.func @left_alone
// CHECK-NOT:     implicit = true
// CHECK:         llvm.return
int left_alone(int n, const int *a)
{
    volatile int v = 0;
    int u = 0, t;
#pragma acc parallel loop copyin(a[0:n]) copy(u, v) private(t)
    for (int i = 0; i < n; i++) {
        t = a[i];
#pragma acc atomic
        u += t;
        v = 1;
    }
    return u + v;
}
