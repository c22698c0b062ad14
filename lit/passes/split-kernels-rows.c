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

// Here a row may be what is written, and two rows may be one: the host looks before the launch.
void may_be_a_row(int n, int m, double **a, double *b)
{
#pragma acc kernels copyin(a[0:n][0:m]) copy(b[0:n])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to gang (blockIdx), vector {{.*}}; in parallel where the rows of 'a', 'b' do not overlap (tested at launch), else sequentially
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
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to gang (blockIdx), vector {{.*}}; in parallel where the rows of 'a' do not overlap (tested at launch), else sequentially
    for (int i = 0; i < n; i++)
        a[i][0] = i;
}

struct grid { double **row; };

void member(struct grid *g, int n, int m)
{
#pragma acc data copy(g->row[0:n][0:m])
#pragma acc kernels
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to gang (blockIdx), vector {{.*}}; in parallel where the rows of 'g_row' do not overlap
    for (int i = 0; i < n; i++)
        g->row[i][0] = i;
}

// Rows that no clause names, and pointers that the construct assigns: nobody knows where they lead.
void unnamed(int n, int m, double **a)
{
#pragma acc kernels copy(a[0:n])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop runs sequentially: the pointer 'a[i]' changes in every iteration: name the rows in a data clause (a[0:n][0:m]), or write 'loop independent'
    for (int i = 0; i < n; i++)
        a[i][0] = i;
}

void assigned(int n, int m, double **a, double **b)
{
#pragma acc kernels copy(a[0:n][0:m]) copyin(b[0:n][0:m])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop runs sequentially: the pointer 'a[i]' changes in every iteration: write 'loop independent' if no iteration depends on another
    for (int i = 0; i < n; i++) {
        a[i][0] = i;
        b[i] = a[i];
    }
}

// Iterations that depend on each other whatever the rows are.
void carried(int n, int m, double **a)
{
#pragma acc kernels copy(a[0:n][0:m])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop runs sequentially: iterations may depend on each other through 'a[...]'
    for (int i = 1; i < n; i++)
        a[i][0] = a[i - 1][0] + 1;
}
