// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s

// Rows behind an array of pointers change from one iteration to the next. They are no obstacle where nothing that
// the loop writes may be a row: a restrict parameter, or numbers of another type.

void sums(int n, int m, double **a, double *restrict b)
{
#pragma acc kernels copyin(a[0:n][0:m]) copyout(b[0:n])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to gang (blockIdx), vector
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += a[i][j];
        b[i] = s;
    }
}

void narrowed(int n, int m, double **a, float *b)
{
#pragma acc kernels copyin(a[0:n][0:m]) copyout(b[0:n])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to gang (blockIdx), vector
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += a[i][j];
        b[i] = s;
    }
}

// Here a row may be what is written, and two rows may be one.
void may_be_a_row(int n, int m, double **a, double *b)
{
#pragma acc kernels copyin(a[0:n][0:m]) copy(b[0:n])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop runs sequentially: the pointer 'a[i]' changes in every iteration
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += a[i][j];
        b[i] = s;
    }
}

void written(int n, int m, double **a)
{
#pragma acc kernels copy(a[0:n][0:m])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop runs sequentially: the pointer 'a[i]' changes in every iteration
    for (int i = 0; i < n; i++)
        a[i][0] = i;
}
