// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s --check-prefix SAID
// RUN: accopt %s --emit=data 2>/dev/null | filecheck %s

// Tiles visit iterations in another order than C: not where one hands on a value, whatever makes the loop seq.
// SAID: warning: the tile clause is not honoured, as this loop runs sequentially: the value of 's' is carried between iterations
// SAID: help: write 'independent' if no iteration depends on another, or leave the clause out
// CHECK-LABEL: llvm.func @scalar
// CHECK:         acc.loop
// CHECK-NOT:     {{[^-]}}tile
// CHECK:         llvm.return
void scalar(int a[8][8], int r[8][8])
{
    int i, j, s = 1;
#pragma acc kernels loop tile(2, 4) copyin(a[0:8]) copyout(r[0:8])
    for (i = 0; i < 8; i++)
        for (j = 0; j < 8; j++)
            r[i][j] = s = s * 3 + a[i][j];
}

// SAID: warning: the tile clause is not honoured, {{.*}}: iterations may depend on each other through 'r'
// CHECK-LABEL: llvm.func @array
// CHECK:         acc.loop
// CHECK-NOT:     {{[^-]}}tile
// CHECK:         llvm.return
void array(int r[8][8])
{
#pragma acc serial loop seq tile(2, 4) copy(r[0:8])
    for (int i = 1; i < 8; i++)
        for (int j = 0; j < 7; j++)
            r[i][j] += r[i - 1][j + 1];
}

// Where none does, and where there is one loop, tiles stay.
// SAID-NOT: warning
// CHECK-LABEL: llvm.func @fine
// CHECK:         acc.loop tile
// CHECK:         acc.loop tile
// CHECK:         llvm.return
void fine(int (*restrict a)[8], int (*restrict r)[8], int *restrict p)
{
#pragma acc parallel num_gangs(1) copyin(a[0:8]) copyout(r[0:8]) copy(p[0:8])
    {
#pragma acc loop seq tile(2, 4)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                r[j][i] = a[i][j];
#pragma acc loop seq tile(4)
        for (int k = 1; k < 8; k++)
            p[k] += p[k - 1];
    }
}
