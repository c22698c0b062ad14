// RUN: accopt %s --target=nvptx --emit=data | filecheck %s
// RUN: accopt %s --target=nvptx --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// A parameter in copyin and copy is a value of the kernel, also as a bound, which the host then knows.
// CHECK-LABEL: llvm.func @parameters(%n: i32, %limit: i32, %a: !llvm.ptr)
// CHECK-NOT:     varPtr(%{{limit|n}}
// CHECK:         acc.parallel combined(loop) dataOperands(%{{a[_0-9a-z]*}} : !llvm.ptr)
// CHECK:           acc.loop combined(parallel) control(%i : i32) = ({{.*}}) to (%n : i32)
// CHECK:             arith.cmpi sgt, {{.*}}, %limit : i32
// CHECK-NOT:     acc.copyout accPtr(%limit
// SAYS:  pass-scalars-by-value.c:[[# @LINE + 4]]:13: remark: 'n' is only read: passed by value, without a copy on the device
// SAYS:  pass-scalars-by-value.c:[[# @LINE + 3]]:13: remark: 'limit' is only read: passed by value, without a copy on the device
void parameters(int n, int limit, int *a)
{
#pragma acc parallel loop copyin(n) copy(limit) present(a)
    for (int i = 0; i < n; i++)
        if (a[i] > limit)
            a[i] = 0;
}

// Each construct gets the value that the host has assigned before it.
// CHECK-LABEL: llvm.func @assigned
// CHECK-NOT:     acc.copyin varPtr(%k
// CHECK:         acc.parallel
// CHECK:           llvm.store %c3{{.*}} : i32
// CHECK:         %[[K:.*]] = scf.if
// CHECK:         acc.parallel
// CHECK:           llvm.store %[[K]]{{.*}} : i32
void assigned(int n, int some, int *a)
{
    int k = 3;
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
    if (some)
        k = 5;
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
}

// Scalars that may be present, that a construct writes or has copies of, volatile ones, and globals are copied.
// CHECK-LABEL: llvm.func @in_region
// CHECK:         acc.copyin varPtr(%k
// CHECK:         acc.parallel combined(loop) dataOperands({{.*}}%k_{{.*}}
void in_region(int n, int k, int *a)
{
#pragma acc data copyin(k)
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
}

void map(int *p);

// CHECK-LABEL: llvm.func @let_out
// CHECK:         acc.copyin varPtr(%k
void let_out(int n, int k, int *a)
{
    map(&k);
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
}

// CHECK-LABEL: llvm.func @written
// CHECK:         acc.copyin varPtr(%k
// CHECK:         acc.copyin varPtr(%k
int written(int n, int k, int *a)
{
#pragma acc parallel copy(k)
    k += 1;
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
    return k;
}

// CHECK-LABEL: llvm.func @updated
// CHECK:         acc.copyin varPtr(%k
int updated(int n, int k, int *a)
{
#pragma acc parallel loop copy(k) present(a)
    for (int i = 0; i < n; i++) {
#pragma acc atomic update
        k += a[i];
    }
    return k;
}

// CHECK-LABEL: llvm.func @is_volatile
// CHECK:         acc.copyin varPtr(%k
void is_volatile(int n, int first, int *a)
{
    volatile int k = first;
#pragma acc parallel loop copyin(k) present(a)
    for (int i = 0; i < n; i++)
        a[i] = k;
}

int factor;

// CHECK-LABEL: llvm.func @of_program
// CHECK:         acc.copyin varPtr(%factor
void of_program(int n, int *a)
{
#pragma acc parallel loop copyin(factor) present(a)
    for (int i = 0; i < n; i++)
        a[i] = factor;
}
