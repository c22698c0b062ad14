// RUN: accopt %s --stop-before count-while-loops | filecheck %s

// A subscript that is declared before the nest, in two forms, is a value of the outer loop; so is a pointer of a
// private clause.
// CHECK-LABEL: @advanced
// CHECK-COUNT-2: scf.for %j{{.*}} iter_args(%k{{.*}} = %k{{.*}}) -> (i32)
// CHECK:         scf.for %j{{.*}} iter_args(%p{{.*}}) -> (!llvm.ptr)
void advanced(int n, int m, float *restrict a)
{
    int i, j, k;
    float *p;
#pragma acc parallel loop present(a[0:n*m])
    for (i = 0; i < n; i++) {
        k = i * m;
        for (j = 0; j < m; j++)
            a[k++] *= 2;
    }
#pragma acc kernels present(a[0:n*m])
    for (i = 0; i < n; i++) {
        k = i * m;
        for (j = 0; j < m; j++)
            a[k++] *= 2;
    }
#pragma acc parallel loop present(a[0:n*m]) private(p)
    for (i = 0; i < n; i++) {
        p = a + i * m;
        for (j = 0; j < m; j++)
            *p++ *= 2;
    }
}

// Not a variable whose value is used after the nest, one that iterations read first, one that a clause names, one
// that an inner loop with a directive assigns, and one that nothing is added to.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: llvm.store %{{.*}}, %k_{{.*}} : i32
// CHECK:         acc.parallel
// CHECK:           llvm.store %{{.*}}, %c :
// CHECK:         acc.parallel
// CHECK:           llvm.store %{{.*}}, %f_
// CHECK:         acc.parallel
// CHECK-COUNT-2:   llvm.store %{{.*}}, %v :
// CHECK:         acc.parallel
// CHECK:           llvm.store %{{.*}}, %t :
// CHECK-NOT:     iter_args
// CHECK:         llvm.return
int kept(int n, int m, int *restrict a)
{
    int i, j, k = 0, c = 0, f = 0, v, t;
#pragma acc parallel loop present(a[0:n]) copy(k)
    for (i = 0; i < n; i++) {
        k = i;
        a[i] = k++;
    }
#pragma acc parallel loop present(a[0:n])
    for (i = 0; i < n; i++)
        a[i] = c++;
#pragma acc parallel loop present(a[0:n]) reduction(+:f)
    for (i = 0; i < n; i++)
        f++;
#pragma acc parallel loop present(a[0:n])
    for (i = 0; i < n; i++) {
        v = i;
#pragma acc loop
        for (j = 0; j < 9; j++) {
            v = j;
            v++;
            a[i] += v;
        }
        a[i] = v;
    }
#pragma acc parallel loop present(a[0:n])
    for (i = 0; i < n; i++) {
        t = a[i];
        a[i] = t * t;
    }
    return k;
}
