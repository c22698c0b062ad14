// RUN: accopt %s --target=nvptx --stop-before sign-subscripts | filecheck %s
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// Rows that two loops read have wide gangs if they are long.
// CHECK-LABEL: @twice
// CHECK:         %long_rows = arith.cmpi sge, %{{.*}}, %c4096
// CHECK:         %long_rows_1 = arith.cmpi sge, %{{.*}}, %c16384
// CHECK:         scf.if %short_rows
// CHECK:           scf.if %short_rows
// CHECK:             scf.if %long_rows_1
// CHECK:               acc.parallel {{.*}}num_workers(%c1{{[_0-9]*}} : i32) vector_length(%c1024
// CHECK:             } else {
// CHECK:               scf.if %long_rows
// CHECK:                 acc.parallel {{.*}}num_workers(%c1{{[_0-9]*}} : i32) vector_length(%c512
// CHECK:               } else {
// CHECK:                 acc.parallel combined(loop) dataOperands(%a_1, %s_1 : !llvm.ptr, !llvm.ptr) {
// SAYS: loop over 'j': {{.*}}, 512 lanes take a row of 4096 iterations or more, 1024 lanes take a row of 16384 iterations or more (tested at launch)
void twice(int n, int m, const float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
#pragma acc loop reduction(max:most)
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < m; j++)
            sum += a[i * m + j] - most;
        s[i] = sum;
    }
}

// The same of a known length: at once.
// CHECK-LABEL: @known
// CHECK-NOT:     scf.if
// CHECK:         acc.parallel {{.*}}vector_length(%c1024
void known(int n, const float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*32000], s[0:n])
    for (int i = 0; i < n; i++) {
        float most = a[i * 32000], sum = 0;
#pragma acc loop reduction(max:most)
        for (int j = 0; j < 32000; j++)
            most = a[i * 32000 + j] > most ? a[i * 32000 + j] : most;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < 32000; j++)
            sum += a[i * 32000 + j] - most;
        s[i] = sum;
    }
}

// Not rows that are read once, nor where a warp adds up a row in order.
// CHECK-LABEL: @once
// CHECK-NOT:     vector_length(%c1024
// CHECK:         llvm.return
void once(int n, int m, const float *restrict a, float *restrict b, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
#pragma acc loop
        for (int j = 0; j < m; j++)
            b[i * m + j] = sum;
        s[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j] - most;
        s[i] = sum;
    }
}
